import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { hasBrowser } from '../browser.ts'
import {
  attach,
  demoWorkbench,
  messageBox,
  type OpenWorkbench,
  say,
  thread,
} from './open-workbench.ts'

// What a new user without an API key sees.

const SCREENS = [
  { width: 1440, height: 900 },
  { width: 360, height: 740 },
]

/** The demo model's text if it cannot do something. */
const REFUSAL = /I cannot|I do not know|cannot answer/

describe.skipIf(!hasBrowser)('the first minute', () => {
  let workbench: OpenWorkbench

  beforeAll(async () => {
    workbench = await demoWorkbench()
  })
  afterEach(() => workbench.closePages())
  afterAll(() => workbench?.close())

  const scroll = (page: Page): Promise<number[]> =>
    page.evaluate(`(() => {
      const { scrollTop, scrollHeight, clientHeight } = document.querySelector('[data-scroller]')
      return [scrollTop, scrollHeight - clientHeight]
    })()`)

  /** The thread's share of the height. */
  const share = (page: Page): Promise<number> =>
    page.evaluate(`document.querySelector('[data-scroller]').clientHeight / innerHeight`)

  /** Waits for the end of the run, and returns the answer. */
  async function answered(page: Page): Promise<string> {
    await page.waitForURL(/\/c\//)
    const path = `/api/conversations/${new URL(page.url()).pathname.split('/').at(-1)}`
    const isOver = async () => {
      const { status, messages } = (await workbench.api(path)) as Record<string, unknown>
      return status === 'idle' && Number(messages) > 1
    }
    await expect.poll(isOver).toBe(true)
    await page.getByRole('button', { name: 'Stop' }).waitFor({ state: 'detached' })
    return thread(page).getByRole('article').last().innerText()
  }

  it.each([360, 740])('starts at the top on a phone that is %i pixels high', async (height) => {
    const page = await workbench.open('/', { viewport: { width: 360, height } })
    await page.getByRole('heading', { name: 'Sample conversations' }).waitFor()
    await page.getByRole('button', { name: /^Every kind of message/ }).waitFor()
    const [top, most = 0] = await scroll(page)
    expect(most).toBeGreaterThan(50)
    expect(top).toBe(0)
    const title = page.getByRole('heading', { name: 'Ask about big files without pasting them' })
    expect((await title.boundingBox())?.y).toBeGreaterThan(40)
    expect(await page.getByRole('button', { name: 'Latest' }).count()).toBe(0)
  })

  it('shows the commands on a phone, too', async () => {
    const page = await workbench.open('/', { viewport: { width: 360, height: 740 } })
    await page.getByRole('button', { name: 'Commands' }).click()
    await page.getByPlaceholder(/Type a command/).fill('theme')
    await page.getByRole('option', { name: 'Toggle theme' }).click()
    await expect.poll(() => page.evaluate('document.body.dataset.theme')).toBe('dark')
  })

  it.each(SCREENS)('answers every suggested question, $width pixels wide', async (viewport) => {
    const page = await workbench.open('/', { viewport })
    await page.getByRole('button', { name: /^What can you do\?/ }).click()
    await expect.poll(() => messageBox(page).inputValue()).toBe('What can you do?')
    await page.getByRole('button', { name: 'Send', exact: true }).click()
    await thread(page)
      .getByText(/demo model/)
      .waitFor()
    const suggestions = page.getByRole('list', { name: 'Suggested questions' })
    const offer = async () => {
      await page.goto(workbench.url)
      await page.getByRole('button', { name: /^Try it with invoices\.csv/ }).click()
      await suggestions.waitFor()
      return suggestions.getByRole('button').allTextContents()
    }
    const questions = await offer()
    expect(questions.length).toBeGreaterThan(4)
    for (const question of questions) {
      await offer()
      await suggestions.getByRole('button', { name: question, exact: true }).click()
      await expect.poll(() => messageBox(page).inputValue()).toBe(question)
      await page.getByRole('button', { name: 'Send', exact: true }).click()
      if (question.startsWith('Send a report')) {
        // The card moves when the answer is complete.
        const step = thread(page).getByRole('article', { name: 'Step: Send the report' })
        await step.getByRole('button', { name: 'Approve' }).click()
        await thread(page)
          .getByText(/this demo sends nothing/)
          .waitFor()
      }
      const text = await answered(page)
      expect(`${question}: ${text}`).not.toMatch(REFUSAL)
      // Every answer names a column, or counts the rows.
      expect(`${question}: ${text}`).toMatch(/: .*(Amount|69)/s)
    }
  })

  it.each(SCREENS)('opens every sample at its start, $width pixels wide', async (viewport) => {
    const page = await workbench.open('/', { viewport })
    const samples = page.getByRole('list').filter({ hasText: 'Four years of weather' }).last()
    const names = ['Four years of weather', 'Refunds that a person approves']
    for (const name of [...names, 'A mail that gives orders', 'Every kind of message']) {
      await page.goto(workbench.url)
      await samples.getByRole('button', { name: new RegExp(`^${name}`) }).click()
      await page.waitForURL(/\/c\/sample-/)
      await page.getByRole('heading', { level: 1, name }).waitFor()
      const first = thread(page).getByRole('article').first()
      await first.waitFor()
      await expect.poll(async () => (await scroll(page))[0]).toBeLessThan(60)
      expect((await first.boundingBox())?.y).toBeGreaterThan(0)
    }
  })

  it('accepts a file of the visitor, and asks for one if a question needs it', async () => {
    const page = await workbench.open()
    const chooser = page.waitForEvent('filechooser')
    await page.getByRole('button', { name: /^Attach a table…/ }).click()
    const buffer = Buffer.from('city,visitors\nBonn,3\nKöln,5\n')
    await (await chooser).setFiles({ name: 'cities.csv', mimeType: 'text/csv', buffer })
    await page.getByText('2 rows × 2 columns').waitFor()
    await say(page, 'total visitors')
    await thread(page).getByText(/\b8\b/).first().waitFor()
    await page.goto(workbench.url)
    await say(page, 'Chart the total Amount by month')
    await thread(page)
      .getByText(/attach/i)
      .last()
      .waitFor()
  })

  it.each(['plot the profit margin', 'lowest discount', 'average weight by Supplier'])(
    'reports that the table has nothing with that name: %s',
    async (question) => {
      const page = await workbench.open()
      await page.getByRole('button', { name: /^Try it with invoices\.csv/ }).click()
      await page.getByText('69 rows × 7 columns').waitFor()
      await say(page, question)
      await thread(page)
        .getByText(/I cannot answer/)
        .waitFor()
      expect(await thread(page).getByRole('img').count()).toBe(0)
    },
  )

  it('reads numbers and dates as people write them in German', async () => {
    const page = await workbench.open()
    const rows = ['Kunde;Betrag;Datum', 'A;1.327,80;01.09.2023', 'B;2,20;02.10.2023']
    await attach(page, 'rechnungen.csv', `${rows.join('\n')}\n`)
    await page.getByText('2 rows × 3 columns').waitFor()
    await say(page, 'total Betrag')
    await thread(page)
      .getByText(/1,?330/)
      .first()
      .waitFor()
    await say(page, 'chart Betrag by month')
    await thread(page).getByRole('img').first().waitFor()
    await thread(page)
      .getByText(/2023-09/)
      .first()
      .waitFor()
  })

  it('reports which rows a chart leaves out', async () => {
    const page = await workbench.open()
    const rows = ['shop,sold', 'north,3', 'south,', 'west,5', 'east,']
    await attach(page, 'shops.csv', `${rows.join('\n')}\n`)
    await page.getByText('4 rows × 2 columns').waitFor()
    await say(page, 'chart sold by shop')
    await thread(page)
      .getByText(/2 of 4 rows are left out/)
      .first()
      .waitFor()
  })

  it.each([
    { width: 1280, height: 800, least: 0.5 },
    { width: 360, height: 740, least: 0.45 },
  ])(
    'leaves enough space for the thread at twice the text size, $width pixels wide',
    async (screen) => {
      const { width, height, least } = screen
      const page = await workbench.open('/', { viewport: { width, height }, textSize: 32 })
      await page.getByRole('button', { name: /^Try it with invoices\.csv/ }).click()
      await page.getByRole('list', { name: 'Suggested questions' }).waitFor()
      expect(await share(page)).toBeGreaterThan(0.29)
      await say(page, 'Highest Amount')
      await answered(page)
      expect(await share(page)).toBeGreaterThan(least)
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width)
    },
  )

  it('can close the inspector at twice the text size', async () => {
    const page = await workbench.open('/', { textSize: 32, viewport: { width: 1280, height: 800 } })
    await page.getByRole('button', { name: 'Show inspector' }).click()
    await page.getByRole('button', { name: 'Close inspector' }).click()
    await page.getByRole('tablist', { name: 'Inspector' }).waitFor({ state: 'detached' })
  })
})
