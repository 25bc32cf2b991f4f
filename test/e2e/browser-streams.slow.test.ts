import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { PNG } from '../../src/assets/fixtures/stores.ts'
import type { LogRecord } from '../../src/core/events/events.ts'
import { hasBrowser, openBrowser } from './browser.ts'
import { byref, type ServerProcess, serve, temporaryFolder } from './byref-process.ts'

// For functions that run in the browser.
interface Source {
  onmessage: (message: { lastEventId: string; data: string }) => void
  onopen: () => void
  readyState: number
}
declare const EventSource: new (url: string) => Source
declare const Image: new () => { src: string; naturalWidth: number; decode(): Promise<void> }
interface Watching {
  source: Source
  opened: number
  records: { id: string; data: string }[]
}

describe.skipIf(!hasBrowser)("a browser's EventSource, fetch and pictures, with tokens", () => {
  const data = temporaryFolder()
  let browser: Browser
  let server: ServerProcess
  let token = ''
  const authorized = () => ({ authorization: `Bearer ${token}` })

  beforeAll(async () => {
    browser = await openBrowser()
    server = await serve(data.path, {}, { args: ['--auth'] })
    const { stdout } = await byref(['token', '--namespace', 'team', '--data', data.path])
    token = stdout.trim()
  })
  afterAll(async () => {
    await browser?.close()
    await server?.stop()
    data.remove()
  })

  /** A page of the server's origin without a script. */
  async function open(): Promise<Page> {
    const page = await (await browser.newContext()).newPage()
    await page.goto(`${server.url}/healthz`)
    return page
  }

  const signIn = (page: Page, bearer: string) =>
    page.evaluate(async (value) => {
      const answer = await fetch('/api/session', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ token: value }),
      })
      return answer.status
    }, bearer)

  const statusOf = (page: Page, path: string) =>
    page.evaluate(async (address) => (await fetch(address)).status, path)

  const widthOf = (page: Page, path: string) =>
    page.evaluate(async (address) => {
      const image = new Image()
      image.src = address
      await image.decode().catch(() => {})
      return image.naturalWidth
    }, path)

  async function post<T>(path: string, body?: object): Promise<T> {
    const answer = await fetch(server.url + path, {
      method: 'POST',
      headers: { ...authorized(), ...(body && { 'content-type': 'application/json' }) },
      body: body && JSON.stringify(body),
    })
    expect(answer.ok, await answer.clone().text()).toBe(true)
    return (await answer.json()) as T
  }

  it('show what the session may see, and nothing without a session', async () => {
    const uploaded = await fetch(`${server.url}/api/assets?name=a.png`, {
      method: 'POST',
      headers: { ...authorized(), 'content-type': 'image/png' },
      body: new Uint8Array(PNG),
    })
    const { asset } = (await uploaded.json()) as { asset: { assetId: string } }
    const picture = `/api/assets/${asset.assetId}/content`
    const page = await open()
    expect(await statusOf(page, '/api/conversations')).toBe(401)
    expect(await widthOf(page, picture)).toBe(0)
    expect(await signIn(page, 'wrong')).toBe(401)
    expect(await signIn(page, token)).toBe(204)
    expect(await page.evaluate('document.cookie')).toBe('')
    expect(await statusOf(page, '/api/conversations')).toBe(200)
    expect(await widthOf(page, `${picture}?download=again`)).toBeGreaterThan(0)
  })

  it('lose nothing and repeat nothing when the server restarts', async () => {
    const { id } = await post<{ id: string }>('/api/conversations', {})
    const at = `/api/conversations/${id}`
    const say = (content: string) => post(`${at}/messages`, { content, ifBusy: 'queue' })
    const recordsOf = async () => {
      const answer = await fetch(`${server.url}${at}/events?limit=1000`, { headers: authorized() })
      return ((await answer.json()) as { records: LogRecord[] }).records
    }
    const runs = async () =>
      (await recordsOf()).filter(({ event }) => event.type === 'RUN_FINISHED').length

    const page = await open()
    await signIn(page, token)
    await page.evaluate((address) => {
      const source = new EventSource(address)
      const watching: Watching = { source, opened: 0, records: [] }
      source.onopen = () => watching.opened++
      source.onmessage = ({ lastEventId, data }) => {
        watching.records.push({ id: lastEventId, data })
      }
      Object.assign(globalThis, { watching })
    }, `${at}/stream`)
    const seen = () =>
      page.evaluate(() => {
        const { records, opened, source } = (globalThis as unknown as { watching: Watching })
          .watching
        return { records, opened, open: source.readyState === 1 }
      })
    const durable = async () =>
      (await seen()).records
        .map(({ data }) => JSON.parse(data) as LogRecord)
        .filter(({ position }) => position !== undefined)

    await say('before')
    await expect.poll(runs).toBe(1)
    for (const [round, signal] of (['SIGTERM', 'SIGKILL'] as const).entries()) {
      const { port } = new URL(server.url)
      await say(`cut off by ${signal}`)
      await server.stop(signal)
      server = await serve(data.path, {}, { args: ['--auth', '--port', port] })
      // Sent before the browser reconnects.
      await say(`after ${signal}`)
      await expect.poll(runs, { timeout: 60_000, interval: 200 }).toBe(3 + 2 * round)
    }
    const all = await recordsOf()
    await expect.poll(async () => (await durable()).length).toBe(all.length)
    expect(await durable()).toEqual(all)
    const { records, opened, open: isOpen } = await seen()
    // Between the two, it may not have reconnected at all.
    expect(opened).toBeGreaterThan(1)
    expect(isOpen).toBe(true)
    const ids = records
      .filter(({ data }) => 'position' in JSON.parse(data))
      .map((one) => Number(one.id))
    expect(ids).toEqual(all.map(({ position }) => position))
  })
})
