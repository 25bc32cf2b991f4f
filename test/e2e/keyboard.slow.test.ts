import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hasBrowser, openBrowser } from './browser.ts'
import { type ServerProcess, serve, temporaryFolder } from './byref-process.ts'

/** The focused element, for a person with a keyboard and a person with a screen reader. */
interface Focus {
  role: string
  name: string
  /** Whether an outline around it, or around its box, shows the focus. */
  isVisible: boolean
}

// Runs in the page. Dialogs and cards that only receive the focus of a removed element need no outline.
const FOCUS = `(() => {
  const element = document.activeElement
  if (!element || element === document.body) return { role: 'body', name: '', isVisible: false }
  const ids = element.getAttribute('aria-labelledby')?.split(' ') ?? []
  const texts = [
    element.getAttribute('aria-label'),
    ids.map((id) => document.getElementById(id)?.textContent).join(' '),
    element.labels?.[0]?.textContent,
    element.textContent,
  ]
  const name = texts.find((text) => text?.trim())?.trim().replace(/\\s+/g, ' ') ?? ''
  const probe = document.createElement('i')
  probe.style.color = 'var(--byref-ring)'
  element.closest('.byref').append(probe)
  const ring = getComputedStyle(probe).color
  probe.remove()
  const boxes = [element, element.parentElement, element.parentElement?.parentElement]
  const isRinged = boxes.some((box) => box && getComputedStyle(box).borderBottomColor === ring)
  const { outlineStyle, outlineWidth } = getComputedStyle(element)
  const isOutlined = outlineStyle !== 'none' && Number.parseFloat(outlineWidth) >= 1
  const isContainer = element.tabIndex === -1 && element.matches('[role=dialog], article')
  const isVisible = isOutlined || isRinged || isContainer
  return { role: element.role ?? element.tagName.toLowerCase(), name, isVisible }
})()`

describe.skipIf(!hasBrowser)('the first minutes by keyboard alone', () => {
  const data = temporaryFolder()
  let browser: Browser
  let server: ServerProcess
  let page: Page

  beforeAll(async () => {
    ;[browser, server] = await Promise.all([openBrowser(), serve(data.path)])
    const context = await browser.newContext({ viewport: { width: 1440, height: 900 } })
    page = await context.newPage()
    page.on('pageerror', (error) => {
      throw error
    })
  })
  afterAll(async () => {
    await browser?.close()
    await server?.stop()
    data.remove()
  })

  const focus = (): Promise<Focus> => page.evaluate<Focus>(FOCUS)

  /** Waits until an element with this name has a visible focus. */
  async function focusIsOn(name: RegExp): Promise<void> {
    await expect
      .poll(async () => (await focus()).name, { message: `focus on ${name}` })
      .toMatch(name)
    expect(await focus()).toMatchObject({ isVisible: true })
  }

  /** Presses Tab, or Shift+Tab, until an element with this name has the focus. */
  async function tabTo(name: RegExp, key: 'Tab' | 'Shift+Tab' = 'Tab'): Promise<void> {
    const passed: string[] = []
    while (passed.length < 120) {
      await page.keyboard.press(key)
      const { name: here, role, isVisible } = await focus()
      passed.push(`${role} ${here.slice(0, 30)}`)
      // Between the last element and the first one, the browser itself has the focus.
      if (role !== 'body') expect([role, here, isVisible]).toEqual([role, here, true])
      if (name.test(here)) return
    }
    throw new Error(`${key} does not come to ${name}, but to ${passed.join('; ')}`)
  }

  /** Presses a key that removes an element, and waits until another one has the focus. */
  async function pressAndKeepFocus(key: string): Promise<void> {
    await page.keyboard.press(key)
    await expect.poll(async () => (await focus()).role).not.toBe('body')
  }

  const press = (key: string): Promise<void> => page.keyboard.press(key)
  const thread = () => page.getByRole('region', { name: 'Thread' })

  it('attach the bundled file, and chart a suggested question', async () => {
    await page.goto(server.url)
    await focusIsOn(/^Message$/)
    await tabTo(/invoices\.csv/, 'Shift+Tab')
    await press('Enter')
    await focusIsOn(/^Message$/)
    await page.getByRole('list', { name: 'Suggested questions' }).waitFor()
    await tabTo(/^Chart the total Amount by month$/, 'Shift+Tab')
    await press('Enter')
    await focusIsOn(/^Message$/)
    await press('Enter')
    await thread().getByRole('img').first().waitFor()
    await page.getByText('The answer is complete.').waitFor({ state: 'attached' })
    await focusIsOn(/^Message$/)
  })

  it('open a reference, and go through the tabs of the inspector', async () => {
    await tabTo(/^†state\./, 'Shift+Tab')
    await press('Enter')
    const tab = (name: string) => page.getByRole('tab', { name, selected: true })
    await tab('Saved values').waitFor()
    await focusIsOn(/^†state\./)
    await tabTo(/^Saved values$/)
    for (const [key, name] of [
      ['ArrowLeft', 'Files'],
      ['ArrowRight', 'Saved values'],
      ['ArrowRight', 'Run'],
      ['ArrowRight', 'Prompt'],
    ] as const) {
      await press(key)
      await focusIsOn(new RegExp(`^${name}$`))
      await tab(name).waitFor()
    }
  })

  it('edit an argument of a waiting call, and approve it', async () => {
    await tabTo(/^Message$/, 'Shift+Tab')
    await page.keyboard.type('Send a report of the total Amount by Supplier')
    await press('Enter')
    await page.getByRole('form', { name: 'Approval of send_report' }).first().waitFor()
    await tabTo(/^Edit$/, 'Shift+Tab')
    await press('Enter')
    await focusIsOn(/^to\b/)
    await tabTo(/^subject\b/)
    await press('Control+a')
    await page.keyboard.type('Suppliers, for Ada')
    await tabTo(/^Approve these arguments$/)
    await pressAndKeepFocus('Enter')
    await thread()
      .getByText(/“Suppliers, for Ada” .* this demo sends nothing/)
      .waitFor()
    // The card is folded with its step, and the line of the step replaces it.
    await expect.poll(focus).toMatchObject({ isVisible: true })
    expect((await focus()).name).toMatch(/send_report|report/i)
  })

  it('show how a call fails, and how the agent corrects it', async () => {
    await tabTo(/^Message$/)
    await page.keyboard.type('Show me a call that fails, and its correction')
    await press('Enter')
    await thread()
      .getByText(/The first call failed/)
      .waitFor()
    await focusIsOn(/^Message$/)
    await tabTo(/^failed:/, 'Shift+Tab')
    const line = thread().getByRole('button', { name: /^failed:/ })
    expect(await line.getAttribute('aria-expanded')).toBe('true')
    await press('Enter')
    expect(await line.getAttribute('aria-expanded')).toBe('false')
    await focusIsOn(/^failed:/)
  })

  it('rename the conversation through its menu', async () => {
    await tabTo(/^Actions for /, 'Shift+Tab')
    await press('Enter')
    await focusIsOn(/^Rename$/)
    await press('Enter')
    await focusIsOn(/^New title$/)
    await page.keyboard.type('Invoices of Ada')
    await pressAndKeepFocus('Enter')
    await page.getByRole('link', { name: /Invoices of Ada/ }).waitFor()
    await focusIsOn(/Invoices of Ada/)
  })

  it('open and close the command palette, and run a command', async () => {
    await press('Control+k')
    await focusIsOn(/^Commands$/)
    await pressAndKeepFocus('Escape')
    await focusIsOn(/Invoices of Ada/)
    await press('Control+k')
    await focusIsOn(/^Commands$/)
    await page.keyboard.type('rename')
    await press('Enter')
    await focusIsOn(/^Title/)
    await pressAndKeepFocus('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await focusIsOn(/Invoices of Ada/)
  })

  it('delete conversations, and move to the remaining ones', async () => {
    for (const title of ['Spare one', 'Spare two']) {
      const body = JSON.stringify({ title })
      const headers = { 'content-type': 'application/json' }
      await fetch(`${server.url}/api/conversations`, { method: 'POST', headers, body })
    }
    await page.getByRole('link', { name: /Spare two/ }).waitFor()
    const remove = async (title: RegExp, key: 'Tab' | 'Shift+Tab') => {
      await tabTo(title, key)
      await press('Enter')
      await focusIsOn(/^Rename$/)
      await press('End')
      await focusIsOn(/^Delete…$/)
      await press('Enter')
      await focusIsOn(/^Cancel$/)
      // It is enabled when the versions of the conversation are loaded.
      const button = page.getByRole('button', { name: 'Delete', exact: true })
      await expect.poll(() => button.isEnabled()).toBe(true)
      await press('Tab')
      await focusIsOn(/^Delete$/)
      await pressAndKeepFocus('Enter')
      await page.getByRole('dialog').waitFor({ state: 'detached' })
    }
    await remove(/^Actions for Spare one$/, 'Shift+Tab')
    await page.getByRole('link', { name: /Spare one/ }).waitFor({ state: 'detached' })
    await expect.poll(async () => (await focus()).name).toMatch(/Spare two|Invoices of Ada/)
    // The open conversation: the page opens a new one.
    await remove(/^Actions for Invoices of Ada$/, 'Tab')
    await page.getByRole('heading', { name: 'New conversation' }).waitFor()
    await focusIsOn(/^Message$/)
  })
})
