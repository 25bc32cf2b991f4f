import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { checkView, type Ids } from '../../scripts/look/check-view.ts'
import { openSamples } from '../../scripts/look/open-samples.ts'
import { THEMES, VIEWS, WIDTHS } from '../../scripts/look/views.ts'
import { hasBrowser, openBrowser } from './browser.ts'
import { type ServerProcess, serve, temporaryFolder } from './byref-process.ts'

// Some views, each in one theme and at one width. `node scripts/look/look.ts` checks all of them.

describe.skipIf(!hasBrowser)('every screen and dialog', () => {
  const data = temporaryFolder()
  let browser: Browser
  let server: ServerProcess
  let ids: Ids
  /** One browser context for all, so that they share the cache. */
  let page: Page

  beforeAll(async () => {
    browser = await openBrowser()
    server = await serve(data.path)
    page = await browser.newPage()
    ids = await openSamples(page, server.url)
  })
  afterAll(async () => {
    await browser?.close()
    await server?.stop()
    data.remove()
  })

  const some = ['every-kind', 'run', 'prompt', 'checks', 'asset-sql', 'runs', 'menu']
  const cases = VIEWS.filter(({ name }) => some.includes(name)).map((view, place) => ({
    name: view.name,
    view,
    theme: THEMES[place % 2],
    width: WIDTHS[place % 3] as number,
  }))

  it.each(cases)(
    'passes the checks of axe and layout: $name, $theme, $width',
    async ({ view, theme, width }) => {
      await page.setViewportSize({ width, height: 800 })
      await page.emulateMedia({ colorScheme: theme })
      expect(await checkView(page, server.url, view, ids)).toEqual([])
    },
  )

  it('break no word and no number in a table, on a phone', async () => {
    const columns = ['Month', 'Revenue', 'Units', 'Returns', 'Average', 'Temperature']
    const row = ['September', '1,204,331', '12,000', '1,331', '-1,204.33', '12.5']
    const lines = [columns, columns.map(() => '---'), row].map(
      (cells) => `| ${cells.join(' | ')} |`,
    )
    const timestamp = '2026-01-01T12:00:00.000Z'
    const payload = {
      id: 'm',
      sender: { participant_id: 'bot', participant_role: 'assistant' },
      message_type: 'chat',
      content_type: 'text/markdown',
      content: lines.join('\n'),
      timestamp,
      metadata: {},
    }
    const record = { v: 1, position: 1, timestamp, event: { type: 'NEW_MESSAGE', payload } }
    const head = {
      byref: 'conversation',
      version: 1,
      id: 'wide',
      title: 'Wide',
      createdAt: timestamp,
      updatedAt: timestamp,
    }
    const body = [head, record, { byref: 'end' }].map((line) => JSON.stringify(line)).join('\n')
    const url = `${server.url}/api/conversations/import?id=wide`
    const imported = await fetch(url, { method: 'POST', body })
    expect(await imported.json()).toEqual({ id: 'wide' })
    await page.setViewportSize({ width: 360, height: 800 })
    await page.goto(`${server.url}/c/wide`)
    await page.locator('td').first().waitFor()
    const broken = await page.evaluate(`[...document.querySelectorAll('td, th')].filter((cell) => {
      const range = document.createRange()
      range.selectNodeContents(cell)
      return new Set([...range.getClientRects()].map(({ top }) => Math.round(top))).size > 1
    }).map((cell) => cell.textContent)`)
    expect(broken).toEqual([])
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(360)
  })

  it('need less than 200 kB of scripts', async () => {
    const page = await (await fetch(server.url)).text()
    const scripts = [...page.matchAll(/(?:src|href)="(\/assets\/[^"]+\.js)"/g)].map(
      ([, path]) => path,
    )
    expect(scripts.length).toBeGreaterThan(1)
    let sent = 0
    for (const path of scripts) {
      const headers = { 'accept-encoding': 'br' }
      const answer = await fetch(server.url + path, { headers })
      const whole = Buffer.from(await answer.arrayBuffer()).byteLength
      sent += Number(answer.headers.get('content-length') ?? whole)
    }
    expect(sent).toBeLessThan(200_000)
  })

  it('are saved in a page that needs no server and no network, and has no debug data by default', async () => {
    const context = await browser.newContext({ viewport: { width: 1440, height: 900 } })
    const page = await context.newPage()
    await page.goto(`${server.url}/c/sample-weather`)
    await page.getByRole('link', { name: 'Four years of weather' }).hover()
    await page.getByRole('button', { name: 'Actions for Four years of weather' }).click()
    await page.getByRole('menuitem', { name: /^Save as HTML/ }).click()
    const download = page.waitForEvent('download')
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click()
    const file = join(data.path, 'saved.html')
    await (await download).saveAs(file)
    await context.close()
    expect(await readFile(file, 'utf8')).not.toContain('"debug":"')

    const alone = await browser.newContext({
      viewport: { width: 1440, height: 900 },
      offline: true,
    })
    const saved = await alone.newPage()
    const asked: string[] = []
    saved.on('request', (request) => asked.push(new URL(request.url()).protocol))
    saved.on('pageerror', (error) => asked.push(error.message))
    await saved.goto(`file://${file}`)
    await saved.getByText('Which month was the wettest?').first().waitFor()
    const loaded = 'document.querySelector("main img")?.naturalWidth'
    await expect.poll(() => saved.evaluate(loaded)).toBeGreaterThan(100)
    await saved.getByRole('link', { name: /^seattle-weather\.csv Table/ }).click()
    await saved.getByRole('table', { name: 'Rows' }).getByText('2012-01-01').first().waitFor()
    expect([...new Set(asked)].sort()).toEqual(['blob:', 'file:'])
    await alone.close()
  })
})
