import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { checkView, type Ids } from '../../scripts/look/check-view.ts'
import { makeConversations } from '../../scripts/look/make-conversations.ts'
import { openSamples } from '../../scripts/look/open-samples.ts'
import { setTextSize, turnAround } from '../../scripts/look/page-settings.ts'
import { VIEWS } from '../../scripts/look/views.ts'
import { hasBrowser, openBrowser } from './browser.ts'
import { type ServerProcess, serve, temporaryFolder } from './byref-process.ts'

// The workbench for people who do not see the page, enlarge it, read from right to left, or use other number formats.
// `node scripts/look/look.ts --text 200` checks all screens and dialogs.

/** Records what screen readers announce: new alerts, and changes of existing live regions. */
const LISTEN = `{
  globalThis.heard = []
  const known = new WeakMap()
  const textOf = (region) => {
    const copy = region.cloneNode(true)
    for (const hidden of copy.querySelectorAll('[aria-hidden=true]')) hidden.remove()
    return copy.textContent.trim()
  }
  const listen = () => {
    for (const region of document.querySelectorAll('[role=status], [role=alert], [aria-live]')) {
      const text = textOf(region)
      const before = known.get(region)
      known.set(region, text)
      const isAnnounced = before !== undefined || region.role === 'alert'
      if (text !== '' && text !== before && isAnnounced) heard.push(text)
    }
  }
  new MutationObserver(listen).observe(document, { childList: true, subtree: true, characterData: true })
}`

describe.skipIf(!hasBrowser)('the accessible workbench', () => {
  const data = temporaryFolder()
  let browser: Browser
  let server: ServerProcess
  let ids: Ids
  const pages: Page[] = []

  beforeAll(async () => {
    ;[browser, server] = await Promise.all([openBrowser(), serve(data.path)])
    const page = await browser.newPage()
    const samples = await openSamples(page, server.url)
    ids = { ...samples, ...(await makeConversations(server.url)) }
    await page.context().close()
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
  async function pageWith(options: BrowserContextOptions = {}): Promise<Page> {
    const viewport = { width: 1440, height: 900 }
    const context = await browser.newContext({ viewport, ...options })
    const page = await context.newPage()
    page.on('pageerror', (error) => {
      throw error
    })
    pages.push(page)
    return page
  }

  /** A phone with doubled text size. Its cache is shared by the views. */
  async function largePhone(): Promise<Page> {
    const viewport = { width: 360, height: 760 }
    const context = await browser.newContext({ viewport, colorScheme: 'dark' })
    const page = await context.newPage()
    await setTextSize(page, 2)
    return page
  }

  /** Returns all matching announcements so far. */
  async function heard(page: Page, pattern: RegExp): Promise<string[]> {
    const all = await page.evaluate<string[]>('heard')
    return all.filter((text) => pattern.test(text))
  }

  /** Waits for an announcement, and expects it exactly once. */
  async function hears(page: Page, pattern: RegExp, times = 1): Promise<void> {
    await expect
      .poll(async () => (await heard(page, pattern)).length, { message: `${pattern}` })
      .toBeGreaterThanOrEqual(times)
    expect(await heard(page, pattern)).toHaveLength(times)
  }

  it('can be used by names and roles only, and announces every event once', async () => {
    const page = await pageWith()
    await page.addInitScript(LISTEN)
    await page.goto(server.url)
    const press = (name: RegExp) => page.getByRole('button', { name }).click()
    const box = page.getByRole('textbox', { name: 'Message' })
    await press(/invoices\.csv/)
    await hears(page, /^invoices\.csv is attached\.$/)
    await press(/^Chart the total Amount by month$/)
    await press(/^Send$/)
    await hears(page, /^The answer is complete\.$/)
    await page
      .getByRole('img', { name: /Amount/ })
      .first()
      .waitFor()
    await page
      .getByRole('link', { name: /^†state\./ })
      .first()
      .click()
    for (const name of ['Saved values', 'Files', 'Run', 'Prompt']) {
      await page.getByRole('tab', { name }).click()
      await page.getByRole('tabpanel', { name }).waitFor()
    }

    await box.fill('Send a report of the total Amount by Supplier')
    await press(/^Send$/)
    await hears(page, /^The agent needs your approval of send_report\.$/)
    const card = page.getByRole('article', { name: 'Call of send_report' })
    await card.getByRole('button', { name: 'Edit' }).click()
    await card.getByRole('textbox', { name: 'subject' }).fill('Suppliers, for Ada')
    await card.getByRole('button', { name: 'Approve these arguments' }).click()
    await hears(page, /^The answer is complete\.$/, 2)
    await page
      .getByRole('article', { name: /^Message from .*The report “Suppliers, for Ada”/ })
      .waitFor()

    await box.fill('Show me a call that fails, and its correction')
    await press(/^Send$/)
    await hears(page, /^The answer is complete\.$/, 3)
    await page.getByRole('button', { name: /^failed:/ }).waitFor()
    expect(await heard(page, /approval/)).toHaveLength(1)

    await page.getByRole('button', { name: 'Import a conversation' }).waitFor()
    const file = page.getByLabel('Conversation to import')
    const buffer = Buffer.from('no conversation')
    await file.setInputFiles({ name: 'letter.jsonl', mimeType: 'application/x-ndjson', buffer })
    await hears(page, /^letter\.jsonl was not imported\./)
    await page.getByRole('button', { name: 'Dismiss' }).click()
    const files = page.getByLabel('Attach files')
    const broken = Buffer.from('a,b\n1,2\n"unclosed,3\n')
    await files.setInputFiles({ name: 'broken.csv', mimeType: 'text/csv', buffer: broken })
    await hears(page, /^broken\.csv was not attached\./)
    await press(/^Remove broken\.csv$/)

    const title = 'Chart the total Amount by month'
    await page.getByRole('button', { name: `Actions for ${title}` }).click()
    await page.getByRole('menuitem', { name: /^Delete/ }).click()
    await page
      .getByRole('dialog', { name: 'Delete this conversation?' })
      .getByRole('button', { name: 'Delete' })
      .click()
    await page.getByRole('heading', { name: 'New conversation' }).waitFor()
  })

  let phone: Page | null = null
  const dialogs = ['approval-edit', 'delete', 'save-page', 'data-edit']
  const large = VIEWS.filter(({ name }) => [...dialogs, 'attached-broken'].includes(name))

  it.each(large.map((view) => [view.name, view] as const))(
    'passes all checks with text of twice the size, on a phone: %s',
    async (_, view) => {
      phone ??= await largePhone()
      const page = phone
      expect(await checkView(page, server.url, view, ids)).toEqual([])
      expect(await page.evaluate('getComputedStyle(document.documentElement).fontSize')).toBe(
        '32px',
      )
    },
  )

  it('follows the direction of a right-to-left page, and shows each text in its own direction', async () => {
    const page = await pageWith()
    const view = VIEWS.find(({ name }) => name === 'two-scripts')
    if (!view) throw new Error('There is no view two-scripts')
    expect(await checkView(page, server.url, view, ids)).toEqual([])
    const direction = (text: string | RegExp, of = 'direction') =>
      page
        .getByText(text)
        .first()
        .evaluate((element, name) => getComputedStyle(element)[name], of)
    expect(await direction(/هطل المطر في القاهرة \(2025\)؟/)).toBe('rtl')
    expect(await direction('sum(rows')).toBe('ltr')
    expect(await direction('†state.rain')).toBe('ltr')
    expect(await direction('القاهرة: 12.5')).toBe('rtl')
    await page.getByRole('textbox', { name: 'Message' }).fill('שלום (2025)')
    const box = page.getByRole('textbox', { name: 'Message' })
    expect(await box.evaluate((element) => getComputedStyle(element).direction)).toBe('rtl')

    const turned = await pageWith()
    await turnAround(turned.context())
    expect(await checkView(turned, server.url, view, ids)).toEqual([])
    const edge = async (name: string, role: 'navigation' | 'complementary') =>
      (await turned.getByRole(role, { name }).boundingBox())?.x ?? Number.NaN
    expect(await edge('Conversations', 'navigation')).toBeGreaterThan(
      await edge('Inspector', 'complementary'),
    )
    const handle = turned.getByRole('separator', { name: /inspector/ })
    const width = async () => Number(await handle.getAttribute('aria-valuenow'))
    const before = await width()
    await handle.focus()
    await turned.keyboard.press('ArrowRight')
    await expect.poll(width).toBeGreaterThan(before)
    // Tabs follow the arrow keys, too.
    await turned.getByRole('tab', { name: 'Files' }).click()
    await turned.keyboard.press('ArrowLeft')
    await turned.getByRole('tab', { name: 'Saved values', selected: true }).waitFor()
  })

  it('formats numbers and times for the locale of the browser, and stays English', async () => {
    const page = await pageWith({ locale: 'de-DE', timezoneId: 'Europe/Berlin' })
    await page.goto(`${server.url}/c/sample-weather?tab=assets`)
    await page.getByText('1.461 rows × 6 columns').first().waitFor()
    const time = page.getByRole('region', { name: 'Thread' }).locator('time').first()
    expect(await time.getAttribute('title')).toMatch(/^\d\d\.\d\d\.\d{4}, \d\d:\d\d:\d\d$/)
    expect(await page.evaluate('document.documentElement.lang')).toBe('en')
    await page.goto(`${server.url}/c/sample-weather?tab=prompt`)
    await page.getByText(/^\d+,\d KB saved by reference\.$/).waitFor()
  })

  it('shows no animations with reduced motion', async () => {
    const page = await pageWith({ reducedMotion: 'reduce' })
    await page.goto(`${server.url}/c/${ids.approval}`)
    await page.getByRole('button', { name: 'Approve' }).first().waitFor()
    await page.keyboard.press('Control+k')
    await page.getByRole('option', { name: 'New conversation' }).waitFor()
    const moving = await page.evaluate<string[]>(`[...document.querySelectorAll('.byref *')]
      .filter((element) => {
        const { animationName, transitionDuration, scrollBehavior } = getComputedStyle(element)
        return animationName !== 'none' || /[1-9]/.test(transitionDuration) || scrollBehavior !== 'auto'
      })
      .map(({ outerHTML }) => outerHTML.slice(0, 100))`)
    expect(moving).toEqual([])
    expect(await page.evaluate('document.getAnimations().length')).toBe(0)
  })

  it('shows focus, choices and bars in a high contrast theme', async () => {
    const page = await pageWith({ forcedColors: 'active' })
    await page.goto(`${server.url}/c/sample-weather?tab=prompt`)
    const outline = (selector: string) =>
      page
        .locator(selector)
        .first()
        .evaluate((element) => {
          const { outlineStyle, outlineWidth } = getComputedStyle(element)
          return `${outlineStyle} ${outlineWidth}`
        })
    await page.locator('nav [aria-current=page]').waitFor()
    expect(await outline('nav [aria-current=page]')).toBe('solid 2px')
    expect(await outline('[role=tab][aria-selected=true]')).toBe('solid 2px')
    await page.getByRole('textbox', { name: 'Message' }).focus()
    await page.keyboard.press('Shift+Tab')
    await page.keyboard.press('Tab')
    expect(await outline('textarea:focus')).toBe('solid 2px')
    await page.getByText(/saved by reference/).waitFor()
    const colours = await page.evaluate<string[]>(
      `[...document.querySelectorAll('[role=tabpanel] [data-bar]')].map((bar) => getComputedStyle(bar).backgroundColor)`,
    )
    expect(new Set(colours).size).toBeGreaterThan(2)
  })
})

// For functions that run in the browser.
declare function getComputedStyle(element: unknown): Record<string, string>
