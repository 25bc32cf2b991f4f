// node --conditions=byref-source scripts/look/pictures.ts: takes the pictures of the README, the docs and the
// samples.
import { extname, join } from 'node:path'
import type { Page } from 'playwright-core'
import { buildPanes } from '../../web/panes/build-panes.ts'
import { openView } from './check-view.ts'
import { VIEWS } from './views.ts'
import { withSamples } from './with-samples.ts'

/** Pictures by the views that they show. */
const PICTURES = { prompt: 'workbench', run: 'run', checks: 'checks', 'asset-sql': 'table' }

/** Pictures of the panes of `@byref/react`: their size, the conversation, and what must be visible. */
const PANES = [
  { pane: 'Thread', width: 760, height: 560, id: 'sample-weather', shows: 'main, article' },
  { pane: 'Composer', width: 760, height: 120, id: 'sample-weather', shows: 'textarea' },
  {
    pane: 'Inspector',
    width: 480,
    height: 560,
    id: 'sample-weather',
    shows: '[role=tabpanel] img',
  },
  { pane: 'Conversation', width: 760, height: 640, id: 'sample-refunds', shows: 'textarea' },
]

/** Whether Markdown is rendered and images are loaded. */
const IS_DRAWN =
  '!/\\]\\(<\\|asset/.test(document.body.innerText) && [...document.images].every((one) => one.complete)'

const TYPES: Record<string, string> = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.css': 'text/css',
}

const folder = join(import.meta.dirname, '../../docs/images')
const files = await buildPanes()

await withSamples(async ({ browser, url, ids }) => {
  for (const [name, file] of Object.entries(PICTURES)) {
    const view = VIEWS.find((one) => one.name === name)
    if (!view) throw new Error(`There is no view ${name}`)
    const context = await browser.newContext({ viewport: { width: 1440, height: 860 } })
    const page = await context.newPage()
    await openView(page, url, view, ids)
    await drawn(page)
    await page.screenshot({ path: join(folder, `${file}.png`) })
    await context.close()
  }
  for (const { pane, width, height, id, shows } of PANES) {
    const context = await browser.newContext({ viewport: { width, height } })
    const page = await context.newPage()
    await servePanes(page, url)
    const path = `/panes/index.html?${pane}=${id}`
    await openView(page, url, { name: pane, path, shows, root: 'body' }, ids)
    await drawn(page)
    await page.screenshot({ path: join(folder, `react-${pane.toLowerCase()}.png`) })
    await context.close()
  }
})

/**
 * Waits until everything is drawn, at most five seconds, because a message may contain such text itself. The policy
 * of the page forbids `waitForFunction`.
 */
async function drawn(page: Page): Promise<void> {
  for (let tries = 0; tries < 100; tries++) {
    if (await page.evaluate(IS_DRAWN)) return
    await page.waitForTimeout(50)
  }
}

/** Adds the page of the panes to those of the server, so that both have one origin. */
async function servePanes(page: Page, url: string): Promise<void> {
  await page.route(`${url}/panes/**`, async (route) => {
    const { pathname } = new URL(route.request().url())
    const name = pathname.endsWith('index.html') ? 'index.html' : pathname.slice(1)
    const contentType = TYPES[extname(name)]
    await route.fulfill({ body: files.get(name) ?? '', contentType })
  })
}
