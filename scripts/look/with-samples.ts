import type { Browser } from 'playwright-core'
import { openBrowser } from '../../test/e2e/browser.ts'
import { serve, temporaryFolder } from '../../test/e2e/byref-process.ts'
import type { Ids } from './check-view.ts'
import { makeConversations } from './make-conversations.ts'
import { serveManyTools } from './many-tools.ts'
import { openSamples } from './open-samples.ts'

/** A browser with a server that has the samples, and the ids that URLs of views name. */
export interface Stage {
  browser: Browser
  url: string
  ids: Ids
}

/** Runs a function with a browser and its own server, and closes both. */
export async function withSamples(act: (stage: Stage) => Promise<void>): Promise<void> {
  const data = temporaryFolder()
  const other = temporaryFolder()
  const server = await serve(data.path)
  const locked = await serve(other.path, {}, { args: ['--auth'] })
  const many = await serveManyTools()
  const browser = await openBrowser()
  try {
    const samples = await openSamples(await browser.newPage(), server.url)
    const made = await makeConversations(server.url)
    const ids = { ...samples, ...made, locked: locked.url, many: many.url }
    await act({ browser, url: server.url, ids })
  } finally {
    await browser.close()
    await Promise.all([server.stop(), locked.stop(), many.stop()])
    data.remove()
    other.remove()
  }
}
