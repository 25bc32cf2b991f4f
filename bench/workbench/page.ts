import type { Browser, Page } from 'playwright-core'

/** A page that records what blocked it. */
export interface Watched {
  page: Page
  /**
   * The longest task since the last time, in milliseconds. The page did not respond meanwhile. Tasks under 50 ms
   * count as 0.
   */
  longestTask(): Promise<number>
  /** Requests since the last time. */
  requests(): number
}

/** Opens a page in its own context, so that nothing is cached. */
export async function watchedPage(browser: Browser): Promise<Watched> {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 } })
  await context.addInitScript(`
    globalThis.tasks = []
    new PerformanceObserver((list) => tasks.push(...list.getEntries().map(({ duration }) => duration)))
      .observe({ type: 'longtask', buffered: true })
    const noticed = new MutationObserver(() => {
      if (!document.getElementById(location.hash.slice(1))) return
      noticed.disconnect()
      requestAnimationFrame(() => setTimeout(() => { globalThis.named = performance.now() }))
    })
    if (location.hash) noticed.observe(document, { childList: true, subtree: true })`)
  const page = await context.newPage()
  let count = 0
  page.on('request', () => count++)
  return {
    page,
    async longestTask() {
      await page.evaluate('new Promise((go) => setTimeout(go, 300))')
      return page.evaluate<number>('Math.round(Math.max(0, ...tasks.splice(0)))')
    },
    requests() {
      const since = count
      count = 0
      return since
    },
  }
}

/** Milliseconds from the request until the page first painted its own content. */
export function firstPaint(page: Page): Promise<number> {
  return page.evaluate(
    `Math.round(performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? -1)`,
  )
}

/** Milliseconds from the request until the page had painted what its URL names. */
export async function namedPaint(page: Page): Promise<number> {
  await page.locator(new URL(page.url()).hash).waitFor()
  return page.evaluate<number>('new Promise((go) => setTimeout(() => go(named), 100))')
}

/** Runs something several times, and returns the median and the range. */
export async function rounds(count: number, run: () => Promise<number>): Promise<string> {
  const times: number[] = []
  for (let i = 0; i < count; i++) times.push(await run())
  times.sort((a, b) => a - b)
  return `${Math.round(times[Math.floor(count / 2)] as number)} (${Math.round(times[0] as number)}–${Math.round(times.at(-1) as number)})`
}
