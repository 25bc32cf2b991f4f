import type { Browser, Page, Request } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { hasBrowser, openBrowser } from './browser.ts'
import { type ScriptedServer, scriptedServer } from './scripted-server.ts'
import { PAYLOADS } from './xss-payloads.ts'

const OWNER = { authorization: 'Bearer owner' }
const AT = '2026-01-01T12:00:00.000Z'

/** Number of payloads in one conversation. */
const BATCH = 22

/** Makes the page draw all messages, up to the first one. */
const ALL_MESSAGES = `(async () => {
  const last = performance.now() + 120_000
  while (!document.getElementById('m-n0')) {
    if (performance.now() > last) throw new Error('The first message does not come')
    const buttons = [...document.querySelectorAll('main button')]
    buttons.find((button) => /earlier messages/i.test(button.textContent))?.click()
    await new Promise(requestAnimationFrame)
  }
})()`

/**
 * Chromium 150 reports `<iframe src="javascript:…">` in a frame that may not run scripts as a navigation. Nothing was
 * navigated: the frame keeps the initial empty document. Chromium 153 reports nothing.
 */
const NO_ADDRESS = ':'

type Json = Record<string, unknown>

/** Messages with a payload in every place for text. */
function messagesOf(payload: string): Json[] {
  const sender = { participant_id: payload, participant_role: 'assistant', name: payload }
  const chat = { sender, message_type: 'chat', content_type: 'text/markdown' }
  const call = {
    id: payload,
    name: payload,
    arguments: { [payload]: payload, html: `<b>${payload}` },
  }
  const everywhere = {
    attribution: payload,
    footer_items: [payload],
    reasoning: [{ text: payload }],
    attachments: [{ kind: 'image', assetRef: payload, mimeType: payload, fileName: payload }],
    [payload]: payload,
  }
  const parts = [
    { type: 'text', text: payload },
    { type: 'image_url', image_url: { url: payload } },
    { type: payload, [payload]: payload },
  ]
  const data = { type: 'data', kind: 'state', data: { [payload]: payload }, description: payload }
  const error = { code: payload, message: payload }
  const answer = { metadata: { tool_result: { tool_call_id: payload, error } } }
  return [
    { ...chat, content: payload, metadata: everywhere },
    { ...chat, content_type: 'text/html', content: payload },
    { ...chat, content_type: 'multipart/mixed', content: parts },
    { ...chat, content_type: 'data', content: data },
    { ...chat, content: payload, metadata: { tool_calls: [call] } },
    { ...chat, content_type: 'text/plain', content: payload, ...answer },
    { ...chat, message_type: 'notice', content: payload, metadata: { href: payload } },
    { ...chat, message_type: 'note', content_type: payload, content: { [payload]: payload } },
  ]
}

/** The same for message types whose text takes the same paths. */
function moreMessagesOf(payload: string): Json[] {
  const sender = { participant_id: payload, participant_role: payload }
  const chat = { sender, message_type: 'chat', content: payload }
  return [
    { ...chat, content_type: 'asset_ref' },
    { ...chat, content_type: 'command', content: { command: payload, param: payload } },
    { ...chat, content_type: 'text/plain', message_type: 'log' },
    { ...chat, content_type: 'text/markdown', message_type: 'note', metadata: { href: payload } },
  ]
}

describe.skipIf(!hasBrowser)('texts with scripts', () => {
  let browser: Browser
  let server: ScriptedServer
  /** What ran, or sent a request to another site. */
  const ran: string[] = []

  beforeAll(async () => {
    browser = await openBrowser()
    server = await scriptedServer()
  })
  beforeEach(() => {
    ran.length = 0
  })
  afterAll(async () => {
    await browser?.close()
    await server?.close()
  })

  async function watched(): Promise<Page> {
    const context = await browser.newContext({ viewport: { width: 1440, height: 900 } })
    await context.addCookies([{ name: 'byref', value: 'owner', url: server.url }])
    // Installed in every frame, also those of other origins, so every script that runs is reported.
    await context.exposeFunction('tellRan', (what: string) => void ran.push(what))
    await context.addInitScript('globalThis.alert = () => tellRan("alert in " + location.href)')
    const asked = (request: Request) => {
      const isForbidden = /csp/i.test(request.failure()?.errorText ?? '')
      const { hostname } = new URL(request.url())
      if (hostname !== '127.0.0.1' && hostname !== '' && !isForbidden) {
        ran.push(`request to ${request.url()}`)
      }
    }
    context.on('requestfailed', asked)
    context.on('requestfinished', asked)
    const page = await context.newPage()
    page.on('dialog', (dialog) => {
      ran.push(`dialog: ${dialog.message()}`)
      void dialog.dismiss()
    })
    // A frame that was blocked has the URL of an error, or none.
    page.on('framenavigated', (frame) => {
      const url = frame.url()
      if (
        url !== NO_ADDRESS &&
        !/^(about:|chrome-error:|$)/.test(url) &&
        !url.startsWith(server.url)
      )
        ran.push(`gone to ${url}`)
    })
    return page
  }

  async function importOf(id: string, payloads: readonly string[]): Promise<void> {
    const head = {
      byref: 'conversation',
      version: 1,
      id,
      title: payloads[0],
      createdAt: AT,
      updatedAt: AT,
    }
    const records = [
      ...payloads.flatMap(messagesOf),
      ...payloads.slice(0, 4).flatMap(moreMessagesOf),
    ].map((message, i) => {
      const payload = { id: `n${i}`, timestamp: AT, metadata: {}, ...message }
      return { v: 1, position: i + 1, timestamp: AT, event: { type: 'NEW_MESSAGE', payload } }
    })
    const body = [head, ...records, { byref: 'end' }].map((line) => JSON.stringify(line)).join('\n')
    const url = `${server.url}/api/conversations/import?id=${id}`
    const headers = { ...OWNER, 'content-type': 'application/x-ndjson' }
    const answer = await fetch(url, { method: 'POST', headers, body })
    expect([answer.status, answer.ok ? '' : await answer.text()]).toEqual([201, ''])
  }

  /** Unfolds everything, so that everything is drawn. */
  async function unfold(page: Page): Promise<void> {
    await page.evaluate(`for (const one of document.querySelectorAll('main [aria-expanded=false]:not([aria-haspopup])')) one.click()
      for (const one of document.querySelectorAll('details')) one.open = true`)
    // Every script that runs by itself has had enough time.
    await page.evaluate('new Promise((go) => setTimeout(go, 150))')
    for (const frame of page.frames().filter((one) => one.url() === NO_ADDRESS)) {
      const shown = await frame.evaluate('location.href + document.documentElement.outerHTML')
      expect(shown).toBe('about:blank<html><head></head><body></body></html>')
    }
  }

  it('are detected if they run', async () => {
    const page = await watched()
    await page.goto(`${server.url}/api/health`)
    await page.setContent('<img src=x onerror=alert(1)><img src="http://evil.invalid/x">')
    await expect.poll(() => ran.length).toBeGreaterThanOrEqual(2)
    await page.context().close()
  })

  it(`do not run in messages: ${PAYLOADS.length} of them, in every place for text`, async () => {
    const page = await watched()
    for (let from = 0; from < PAYLOADS.length; from += BATCH) {
      const payloads = PAYLOADS.slice(from, from + BATCH)
      await importOf(`x${from}`, payloads)
      await page.goto(`${server.url}/c/x${from}?tab=data`)
      await page.getByRole('article').first().waitFor()
      await page.evaluate(ALL_MESSAGES)
      await unfold(page)
      for (const tab of from === 0 ? ['Files', 'Run', 'Message', 'Problems'] : []) {
        await page.getByRole('tab', { name: tab }).click()
        await unfold(page)
      }
      expect([from, ...ran]).toEqual([from])
    }
    await page.context().close()
  })

  it('do not run in files, with any name', async () => {
    const page = await watched()
    const bodies = {
      'x.svg':
        '<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"><script>alert(1)</script><image href="http://evil.invalid/x.png"/></svg>',
      'x.html':
        '<!doctype html><script>alert(1)</script><img src="http://evil.invalid/x.png"><meta http-equiv=refresh content="0;url=http://evil.invalid">',
      'x.xhtml': '<html xmlns="http://www.w3.org/1999/xhtml"><script>alert(1)</script></html>',
      'x.xml':
        '<?xml-stylesheet href="data:text/xsl,evil"?><x:script xmlns:x="http://www.w3.org/1999/xhtml">alert(1)</x:script>',
      'x.csv': `a,b\n<img src=x onerror=alert(1)>,"=HYPERLINK(""http://evil.invalid"")"\n${PAYLOADS.map((one) => `"${one.replaceAll('"', '""')}",1`).join('\n')}\n`,
      'x.json': JSON.stringify({ all: PAYLOADS }),
      'x.md': PAYLOADS.join('\n\n'),
      '<img src=x onerror=alert(1)>.txt': PAYLOADS.join('\n'),
    }
    for (const [name, body] of Object.entries(bodies)) {
      const url = `${server.url}/api/assets?name=${encodeURIComponent(name)}`
      const made = await fetch(url, { method: 'POST', headers: OWNER, body })
      const { asset, table } = (await made.json()) as Record<
        'asset' | 'table',
        { assetId: string } | null
      >
      for (const id of [asset?.assetId, table?.assetId]) {
        if (!id) continue
        await page.goto(`${server.url}/assets/${id}`)
        await page.getByText('Reference', { exact: true }).waitFor()
        await unfold(page)
        // Its own URL, which a person may open.
        await page.goto(`${server.url}/api/assets/${id}/content`).catch(() => null)
        expect([name, ...ran]).toEqual([name])
      }
    }
    await page.context().close()
  })
})
