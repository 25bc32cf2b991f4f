// node --conditions=byref-source scripts/look/pictures.ts: makes the pictures of README and docs, of the samples.
import { join } from 'node:path'
import { chromium } from 'playwright-core'
import { serve, temporaryFolder } from '../../test/e2e/byref-process.ts'
import { openView } from './check-view.ts'
import { openSamples } from './open-samples.ts'
import { VIEWS } from './views.ts'

/** Pictures by the views that they show. */
const PICTURES = { prompt: 'workbench', run: 'run', checks: 'checks', 'asset-sql': 'table' }

const folder = join(import.meta.dirname, '../../docs/images')
const data = temporaryFolder()
const server = await serve(data.path)
const executablePath = process.env.BYREF_TEST_BROWSER ?? '/usr/bin/chromium'
const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu'] })
try {
  const ids = await openSamples(await browser.newPage(), server.url)
  for (const [name, file] of Object.entries(PICTURES)) {
    const view = VIEWS.find((one) => one.name === name)
    if (!view) throw new Error(`There is no view ${name}`)
    const context = await browser.newContext({ viewport: { width: 1440, height: 860 } })
    const page = await context.newPage()
    await openView(page, server.url, view, ids)
    await page.screenshot({ path: join(folder, `${file}.png`) })
    await context.close()
  }
} finally {
  await browser.close()
  await server.stop()
  data.remove()
}
