import type { BrowserContext, Page } from 'playwright-core'

/** The default font size of a browser, in pixels. */
const STANDARD = 16
const FIXED = 13

/**
 * Sets the font size of the browser, like its settings. It changes everything in `rem`, including media queries. 1 is
 * the default size.
 */
export async function setTextSize(page: Page, scale: number): Promise<void> {
  const devtools = await page.context().newCDPSession(page)
  const fontSizes = { standard: STANDARD * scale, fixed: FIXED * scale }
  await devtools.send('Page.setFontSizes', { fontSizes })
}

/** Shows all pages of the context from right to left, like a page that embeds the workbench in an Arabic app. */
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
