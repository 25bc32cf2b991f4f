import { readFileSync } from 'node:fs'
import { AxeBuilder } from '@axe-core/playwright'
import type { Browser, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { LogRecord } from '../../src/core/events/events.ts'
import { hasBrowser, openBrowser } from './browser.ts'
import { dataset, type ServerProcess, serve, temporaryFolder } from './byref-process.ts'

describe('a browser for the end-to-end tests', () => {
  it('is present if BYREF_REQUIRE_BROWSER requires it', () => {
    const found = hasBrowser || !process.env.BYREF_REQUIRE_BROWSER
    expect(found, 'Name a Chromium by BYREF_TEST_BROWSER').toBe(true)
  })
})

describe.skipIf(!hasBrowser)('the story in a browser', () => {
  const data = temporaryFolder()
  let browser: Browser
  let server: ServerProcess
  const pages: Page[] = []

  beforeAll(async () => {
    browser = await openBrowser()
    server = await serve(data.path)
  })
  afterEach(async () => {
    await Promise.all(pages.splice(0).map((page) => page.context().close()))
  })
  afterAll(async () => {
    await browser?.close()
    await server?.stop()
    data.remove()
  })

  /** A page that fails its test if any error occurs in it. */
  async function open(path = '/'): Promise<Page> {
    const context = await browser.newContext({ viewport: { width: 1440, height: 900 } })
    const page = await context.newPage()
    page.on('pageerror', (error) => {
      throw error
    })
    pages.push(page)
    await page.goto(server.url + path)
    return page
  }

  async function ask(page: Page, question: string): Promise<void> {
    await page.getByRole('textbox', { name: 'Message' }).fill(question)
    await page.getByRole('button', { name: 'Send' }).click()
  }

  async function endedRecordsOf(conversation: string): Promise<LogRecord[]> {
    const last = async (): Promise<unknown> => (await recordsOf(conversation)).at(-1)?.event.type
    await expect.poll(last).toBe('RUN_FINISHED')
    return recordsOf(conversation)
  }

  async function recordsOf(conversation: string): Promise<LogRecord[]> {
    const response = await fetch(
      `${server.url}/api/conversations/${conversation}/events?limit=1000`,
    )
    return ((await response.json()) as { records: LogRecord[] }).records
  }

  it('charts a dropped table, answers from the data, and survives a reload and kill -9', async () => {
    const page = await open()
    const text = readFileSync(dataset('seattle-weather.csv'), 'utf8')
    await drop(page, 'seattle-weather.csv', text)
    await page.getByText('seattle-weather.csv').first().waitFor()
    await ask(page, 'chart the monthly precipitation')

    const thread = page.getByRole('region', { name: 'Thread' })
    const picture = thread.getByRole('img').first()
    await picture.waitFor()
    await expect
      .poll(() =>
        picture.evaluate((image) => (image as unknown as { naturalWidth: number }).naturalWidth),
      )
      .toBe(960)
    await thread.getByText(/its summary is kept as/).waitFor()

    await ask(page, 'and which month was the wettest?')
    const wettest = thread.getByText(/2015-12/)
    await wettest.first().waitFor()
    await thread.getByText(/the highest precipitation of 48 rows/).waitFor()

    const conversation = new URL(page.url()).pathname.split('/').pop() ?? ''
    const records = await endedRecordsOf(conversation)
    const calls = records.flatMap(({ event }) =>
      event.type === 'TOOL_CALL_END' ? [event.call] : [],
    )
    expect(calls.map(({ name }) => name)).toEqual(['chart_rows', 'rank_rows'])
    expect(calls[0]?.arguments.rows).toMatch(/^asset:\/\/\w+\/content\/rows$/)
    expect(calls[1]?.arguments.rows).toMatch(/^†state\.\w+\.rows$/)

    await page.getByRole('tab', { name: 'Files' }).click()
    await page.getByText('seattle-weather.csv').last().waitFor()
    await page.getByRole('tab', { name: 'Saved values' }).click()
    await page
      .getByText(/month_sum_precipitation/)
      .first()
      .waitFor()

    for (const tab of ['Files', 'Saved values', 'Run', 'Prompt']) {
      await page.getByRole('tab', { name: tab }).click()
      const axe = new AxeBuilder({ page })
      // The rest of the page is unchanged since the first run.
      if (tab !== 'Files') axe.include('aside')
      const { violations } = await axe.analyze()
      expect(violations.map(({ id, nodes }) => [id, nodes[0]?.html])).toEqual([])
    }

    await page.reload()
    await wettest.first().waitFor()
    await picture.waitFor()

    await server.stop('SIGKILL')
    server = await serve(data.path)
    await page.goto(`${server.url}/c/${conversation}`)
    await wettest.first().waitFor()
    await expect
      .poll(() =>
        picture.evaluate((image) => (image as unknown as { naturalWidth: number }).naturalWidth),
      )
      .toBe(960)
    expect(await recordsOf(conversation)).toEqual(records)
    await page.getByRole('tab', { name: 'Saved values' }).click()
    await page
      .getByText(/month_sum_precipitation/)
      .first()
      .waitFor()

    await ask(page, 'and which month was the driest?')
    await thread
      .getByText(/2012-08/)
      .first()
      .waitFor()
  })

  it('can be done by keyboard only, from attaching a file to its debug data', async () => {
    const page = await open()
    const focused = (): Promise<string> =>
      page.evaluate(
        () =>
          document.activeElement?.getAttribute('aria-label') ??
          document.activeElement?.textContent ??
          '',
      )
    /** Presses Tab until an element with this name has a visible focus. */
    const tabTo = async (name: RegExp, key = 'Tab'): Promise<void> => {
      for (let presses = 0; presses < 80; presses++) {
        await page.keyboard.press(key)
        if (!name.test(await focused())) continue
        const outline = await page.evaluate(
          () => getComputedStyle(document.activeElement).outlineStyle,
        )
        expect([await focused(), outline]).not.toContain('none')
        return
      }
      throw new Error(`Tab does not come to ${name}`)
    }
    await expect.poll(focused).toBe('Message')
    page.on('filechooser', (chooser) => chooser.setFiles(dataset('seattle-weather.csv')))
    await tabTo(/^Attach$/)
    await page.keyboard.press('Enter')
    await page.getByText('1,461 rows × 6 columns').first().waitFor()
    // After choosing a file, a person writes.
    await expect.poll(focused).toBe('Message')
    await page.keyboard.type('chart the monthly precipitation')
    await page.keyboard.press('Enter')
    const thread = page.getByRole('region', { name: 'Thread' })
    await thread.getByText(/its summary is kept as/).waitFor()
    const step = thread.getByRole('button', { name: /1 call/ })
    await expect.poll(() => step.getAttribute('aria-expanded')).toBe('false')
    expect(await thread.getByRole('img').count()).toBe(1)

    await tabTo(/Chart the sum/, 'Shift+Tab')
    await page.keyboard.press('Enter')
    await thread.getByRole('article', { name: 'Call of chart_rows' }).waitFor()
    await tabTo(/^Message actions$/)
    await page.keyboard.press('Enter')
    for (const item of ['Copy text', 'Copy link', 'Debug data']) {
      await expect.poll(focused).toBe(item)
      await page.keyboard.press(item === 'Debug data' ? 'Enter' : 'ArrowDown')
    }
    await page.getByRole('tree', { name: 'Debug data' }).waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('tree', { name: 'Debug data' }).waitFor({ state: 'detached' })

    await page.keyboard.press('Control+k')
    await page.getByPlaceholder(/Type a command/).waitFor()
    await page.keyboard.type('toggle theme')
    await page.keyboard.press('Enter')
    await expect.poll(() => page.evaluate('document.body.dataset.theme')).toBe('dark')
  })

  it('shows events of one tab in the other', async () => {
    const page = await open()
    await ask(page, 'hello')
    await page.getByText(/demo model: a few rules/).waitFor()
    const other = await open(new URL(page.url()).pathname)
    await other.getByText(/demo model: a few rules/).waitFor()
    await ask(page, 'are you there?')
    await other.getByText('are you there?').waitFor()
    await expect.poll(() => other.getByText(/demo model: a few rules/).count()).toBe(2)
  })

  it('reports what is wrong with a broken file, and keeps the conversation', async () => {
    const page = await open()
    await drop(page, 'broken.csv', 'a,b\n1,2\n"unclosed,3\n')
    await page
      .getByText(/broken\.csv/)
      .first()
      .waitFor()
    await page
      .getByText(/quote|unclosed|line/i)
      .first()
      .waitFor()
    await page.getByRole('button', { name: 'Remove broken.csv' }).click()
    await ask(page, 'hello')
    await page.getByText(/demo model: a few rules/).waitFor()
  })
})

// For functions that run in the browser.
declare const DataTransfer: new () => { items: { add(file: File): void } }
declare const document: {
  activeElement: { textContent: string | null; getAttribute(name: string): string | null } | null
  documentElement: { dataset: Record<string, string | undefined> }
}
declare function getComputedStyle(element: unknown): { outlineStyle: string }

/** Drops a file on the page like a person. */
async function drop(page: Page, name: string, text: string): Promise<void> {
  const transfer = await page.evaluateHandle(
    ([file, content]) => {
      const dropped = new DataTransfer()
      dropped.items.add(new File([content ?? ''], file ?? '', { type: 'text/csv' }))
      return dropped
    },
    [name, text],
  )
  const target = page.getByRole('textbox', { name: 'Message' })
  await target.dispatchEvent('dragenter', { dataTransfer: transfer })
  await target.dispatchEvent('dragover', { dataTransfer: transfer })
  await target.dispatchEvent('drop', { dataTransfer: transfer })
}
