import { readFileSync } from 'node:fs'
import axe, { type AxeResults } from 'axe-core'
import type { Page } from 'playwright-core'
import { axProblems } from './ax-problems.ts'
import type { View } from './views.ts'

const script = (name: string) => readFileSync(new URL(name, import.meta.url), 'utf8')
const LAYOUT = script('layout-problems.js')
const TEXT = script('text-problems.js')
const STILL = script('stand-still.js')

/** Ids that the URLs of views have in braces. */
export type Ids = Readonly<Record<string, string>>

/** Opens a view, waits until it is complete, and returns its problems as texts. An empty list means no problems. */
export async function checkView(page: Page, url: string, view: View, ids: Ids): Promise<string[]> {
  await openView(page, url, view, ids)
  await page.evaluate(axe.source)
  // Frames in a sandbox run no scripts, so they cannot be inspected from inside.
  const { violations } = await page.evaluate<AxeResults>('axe.run({ iframes: false })')
  const found = violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html.slice(0, 160)} ${failureSummary ?? ''}`),
  )
  const layout = await page.evaluate<string[]>(LAYOUT)
  const text = await page.evaluate<string[]>(TEXT)
  return [...found, ...layout, ...text, ...(await axProblems(page))]
}

/** Opens a view, and waits until it is complete and nothing moves. */
export async function openView(page: Page, url: string, view: View, ids: Ids): Promise<void> {
  const path = view.path.replace(/\{(\w+)\}/g, (_, name: string) => ids[name] ?? name)
  await page.goto('about:blank')
  await page.goto(/^https?:/.test(path) ? path : url + path)
  await page
    .locator(view.root ?? 'main, [role=dialog]')
    .first()
    .waitFor()
  await view.open?.(page)
  await page.locator(view.shows).first().waitFor()
  await page.evaluate(STILL)
}
