import type { Browser, BrowserContextOptions, Locator, Page } from 'playwright-core'
import { expect } from 'vitest'
import type { Agent } from '../../../src/index.ts'
import { createServer } from '../../../src/server/index.ts'
import { openBrowser } from '../browser.ts'
import { serve, temporaryFolder } from '../byref-process.ts'

/** The workbench of a server, in a browser. */
export interface OpenWorkbench {
  url: string
  /** Opens a new page, which fails its test if any error occurs in it. `textSize` is that of the browser, in pixels. */
  open(path?: string, options?: BrowserContextOptions & { textSize?: number }): Promise<Page>
  /** Closes all pages. */
  closePages(): Promise<void>
  /** Calls the API, and returns the JSON of the answer. */
  api(path: string, method?: string, body?: unknown): Promise<unknown>
  /** Imports a conversation of these messages. */
  importMessages(id: string, ...messages: Record<string, unknown>[]): Promise<void>
  close(): Promise<void>
}

/** Opens the workbench of an agent, with everybody as owner. */
export async function workbenchOf(agent: Agent): Promise<OpenWorkbench> {
  const server = await createServer({ agent }).listen({ port: 0, graceMs: 100 })
  return workbenchAt(server.url, () => server.close())
}

/** Opens the workbench of `byref serve` like a new user: without a key, in an empty folder. */
export async function demoWorkbench(): Promise<OpenWorkbench> {
  const data = temporaryFolder()
  const server = await serve(data.path)
  return workbenchAt(server.url, async () => {
    await server.stop()
    data.remove()
  })
}

async function workbenchAt(url: string, closeServer: () => Promise<void>): Promise<OpenWorkbench> {
  const browser: Browser = await openBrowser()
  const request = (path: string, method: string, type: string, body?: string) =>
    fetch(url + path, { method, headers: { 'content-type': type }, body })
  async function closePages(): Promise<void> {
    await Promise.all(browser.contexts().map((context) => context.close()))
  }
  return {
    url,
    closePages,
    async open(path = '/', { textSize, ...options } = {}) {
      const viewport = { width: 1440, height: 900 }
      const context = await browser.newContext({ viewport, ...options })
      const page = await context.newPage()
      page.on('pageerror', (error) => {
        throw error
      })
      if (textSize !== undefined) {
        const session = await context.newCDPSession(page)
        const fontSizes = { standard: textSize, fixed: textSize }
        await session.send('Page.setFontSizes', { fontSizes })
      }
      await page.goto(url + path)
      return page
    },
    async api(path, method = 'GET', body) {
      const sent = body === undefined ? undefined : JSON.stringify(body)
      const text = await (await request(path, method, 'application/json', sent)).text()
      return text === '' ? null : JSON.parse(text)
    },
    async importMessages(id, ...messages) {
      const timestamp = '2026-01-01T12:00:00.000Z'
      const sender = { participant_id: 'bot', participant_role: 'assistant', name: 'Bot' }
      const usual = { sender, message_type: 'chat', content_type: 'text/plain', content: '' }
      const times = { createdAt: timestamp, updatedAt: timestamp }
      const lines: object[] = [{ byref: 'conversation', version: 1, id, title: id, ...times }]
      for (const [i, message] of messages.entries()) {
        const payload = { id: `n${i}`, ...usual, timestamp, metadata: {}, ...message }
        lines.push({ v: 1, position: i + 1, timestamp, event: { type: 'NEW_MESSAGE', payload } })
      }
      lines.push({ byref: 'end' })
      const body = lines.map((line) => `${JSON.stringify(line)}\n`).join('')
      const path = `/api/conversations/import?id=${id}`
      const answer = await request(path, 'POST', 'application/x-ndjson', body)
      expect([answer.status, await answer.text()]).toEqual([201, expect.anything()])
    },
    async close() {
      await browser.close()
      await closeServer()
    },
  }
}

/** Returns the part of a page with the messages. */
export function thread(page: Page): Locator {
  return page.getByRole('region', { name: 'Thread' })
}

/** Returns the field in which a person writes. */
export function messageBox(page: Page): Locator {
  return page.getByRole('textbox', { name: 'Message', exact: true })
}

/** Sends a message, and waits until the box is empty. */
export async function say(page: Page, text: string): Promise<void> {
  await messageBox(page).fill(text)
  await messageBox(page).press('Enter')
  await expect.poll(() => messageBox(page).inputValue()).toBe('')
}

/** Attaches a file through the file input of the page. */
export async function attach(
  page: Page,
  name: string,
  content: string | Uint8Array,
): Promise<void> {
  const types: Record<string, string> = { csv: 'text/csv', json: 'application/json' }
  const mimeType = types[name.split('.').at(-1) ?? ''] ?? 'image/png'
  const buffer = Buffer.from(content)
  await page.getByLabel('Attach files').setInputFiles({ name, mimeType, buffer })
}
