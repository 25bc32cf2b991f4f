import type { BrowserContext, Page } from 'playwright-core'

/** The font size of a browser, in pixels, before a person changes it. */
const STANDARD = 16
const FIXED = 13

/**
 * Sets the font size of the browser, as a person does in its settings: everything in `rem`, media queries included,
 * follows. 1 is the usual size.
 */
export async function setTextSize(page: Page, scale: number): Promise<void> {
  const devtools = await page.context().newCDPSession(page)
  const fontSizes = { standard: STANDARD * scale, fixed: FIXED * scale }
  await devtools.send('Page.setFontSizes', { fontSizes })
}

/** Turns all pages of the context from right to left, as a page does that has the workbench in an Arabic app. */
export async function turnAround(context: BrowserContext): Promise<void> {
  await context.addInitScript(`{
    // The first script runs before the page has an element.
    const turn = () => document.documentElement?.setAttribute('dir', 'rtl')
    new MutationObserver((_, observer) => {
      turn()
      if (document.body) observer.disconnect()
    }).observe(document, { childList: true, subtree: true })
    turn()
  }`)
}
