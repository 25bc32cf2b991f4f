import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { createAdaptorServer } from '@hono/node-server'
import { build } from 'esbuild'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { PNG } from '../../src/assets/fixtures/stores.ts'
import { createChatHandler, uiMessages } from '../../src/integrations/ai-sdk/index.ts'
import { hasBrowser, openBrowser } from './browser.ts'
import { type ScriptedServer, scriptedServer } from './scripted-server.ts'

/** An app with a page, files and an agent. */
async function openApp({ agent }: ScriptedServer) {
  const { outputFiles } = await build({
    entryPoints: [new URL('use-chat-page.jsx', import.meta.url).pathname],
    bundle: true,
    format: 'esm',
    write: false,
    jsx: 'automatic',
    minify: true,
    define: { 'process.env.NODE_ENV': '"production"' },
  })
  const script = outputFiles[0]?.text ?? ''
  const chat = createChatHandler({ agent, assetUrl: (ref) => ref.replace('asset://', '/files/') })
  async function file(path: string): Promise<Response> {
    const { bytes, mime } = await agent.assets.get(path.replace('/files/', 'asset://'))
    return new Response(bytes as Uint8Array<ArrayBuffer>, { headers: { 'content-type': mime } })
  }
  const server = createAdaptorServer({
    fetch(request: Request) {
      const { pathname } = new URL(request.url)
      if (pathname.startsWith('/api/')) return chat(request)
      if (pathname.startsWith('/files/')) return file(pathname)
      const [body, type] =
        pathname === '/page.js'
          ? [script, 'text/javascript']
          : ['<!doctype html><body><script type="module" src="/page.js"></script>', 'text/html']
      return new Response(body, { headers: { 'content-type': type } })
    },
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => new Promise((resolve) => server.close(resolve)),
  }
}

describe.skipIf(!hasBrowser)('useChat, in a browser', () => {
  let browser: Browser
  let scripted: ScriptedServer
  let app: Awaited<ReturnType<typeof openApp>>

  beforeAll(async () => {
    ;[browser, scripted] = await Promise.all([openBrowser(), scriptedServer()])
    app = await openApp(scripted)
  })
  afterAll(async () => {
    await browser?.close()
    await app?.close()
    await scripted?.close()
  })

  async function open(chat: string): Promise<Page> {
    const page = await browser.newPage()
    await page.goto(`${app.url}/#${chat}`)
    await page.getByText('ready').waitFor()
    return page
  }

  async function send(page: Page, text: string): Promise<void> {
    await page.getByLabel('Message').fill(text)
    await page.getByRole('button', { name: 'Send' }).click()
  }

  const runEnd = async (chat: string): Promise<unknown> => {
    const records = await scripted.agent.log.read(chat)
    return records.flatMap(({ event }) => {
      return event.type === 'RUN_FINISHED' ? event.result.reason : []
    })
  }
  const seen = (page: Page): Promise<string[]> => page.locator('section').allInnerTexts()
  const status = (page: Page): Promise<string> => page.locator('output').innerText()

  it('sends', async () => {
    const page = await open('send')
    await send(page, 'Hello')
    await page.getByText('You said: Hello').waitFor()
    await expect.poll(() => status(page)).toBe('ready')
    await send(page, 'And again')
    await page.getByText('You said: And again').waitFor()
    expect(await seen(page)).toEqual([
      'Hello',
      'You said: Hello',
      'And again',
      'You said: And again',
    ])
    await page.close()
  })

  it('stops', async () => {
    const page = await open('stop')
    await send(page, 'work')
    await page.getByText('I will work now.').waitFor()
    await page.getByRole('button', { name: 'Stop' }).click()
    await expect.poll(() => runEnd('stop')).toEqual(['cancelled'])
    await expect.poll(() => status(page)).toBe('ready')
    await send(page, 'Hello')
    await page.getByText('You said: Hello').waitFor()
    await page.close()
  })

  it('resumes after a reload, with and without a later stop, and then has nothing to resume', async () => {
    const page = await open('resume')
    await send(page, 'work')
    await page.getByText('I will work now.').waitFor()
    await page.reload()
    await page.getByText('I will work now.').waitFor()
    await expect.poll(() => status(page)).toBe('streaming')
    scripted.release()
    await page.getByText('You said: work').waitFor()
    await expect.poll(() => status(page)).toBe('ready')
    expect(await seen(page)).toEqual(['work', 'I will work now.\n\nYou said: work'])

    await send(page, 'work on')
    await page.getByText('I will work now.').nth(1).waitFor()
    await page.reload()
    await page.getByText('I will work now.').nth(1).waitFor()
    await page.getByRole('button', { name: 'Stop' }).click()
    await expect.poll(() => status(page)).toBe('ready')
    await expect.poll(async () => (await uiMessages(scripted.agent, 'resume')).length).toBe(4)
    await page.reload()
    await page.getByText('I will work now.').nth(1).waitFor()
    await expect.poll(() => status(page)).toBe('ready')
    expect((await seen(page)).at(-1)).toBe('I will work now.')
    await page.close()
  })

  it('regenerates an answer', async () => {
    const page = await open('again')
    await send(page, 'Hello')
    await page.getByText('You said: Hello').waitFor()
    await expect.poll(() => status(page)).toBe('ready')
    await page.getByRole('button', { name: 'Again' }).click()
    await expect.poll(() => runEnd('again')).toEqual(['done', 'done'])
    await page.getByText('You said: Hello').waitFor()
    await expect.poll(() => status(page)).toBe('ready')
    await page.reload()
    await page.getByText('You said: Hello').waitFor()
    expect(await seen(page)).toEqual(['Hello', 'You said: Hello'])
    await page.close()
  })

  it('approves, also after a reload', async () => {
    const page = await open('approve')
    await send(page, 'pay')
    await page.getByRole('button', { name: 'Pay 5' }).waitFor()
    await page.reload()
    await page.getByRole('button', { name: 'Pay 5' }).click()
    await page.getByText('You said: pay').waitFor()
    expect(await seen(page)).toEqual([
      'pay',
      'I will pay now.\n\npay: output-available\n\nYou said: pay',
    ])
    await page.close()
  })

  it('uploads', async () => {
    const page = await open('upload')
    await page
      .getByLabel('Files')
      .setInputFiles({ name: 'dot.png', mimeType: 'image/png', buffer: PNG })
    await send(page, 'Look')
    await page.getByText('You said: [Attached image').waitFor()
    await page.reload()
    const picture = page.getByAltText('dot.png')
    await picture.waitFor()
    expect(await picture.getAttribute('src')).toMatch(/^\/files\//)
    await expect
      .poll(() => picture.evaluate((img: { naturalWidth: number }) => img.naturalWidth))
      .toBe(1)
    await page.close()
  })
})
