// node --conditions=byref-source scripts/look/pictures.ts: makes the pictures of README and docs, of the samples.
import { join } from 'node:path'
import { openView } from './check-view.ts'
import { VIEWS } from './views.ts'
import { withSamples } from './with-samples.ts'

/** Pictures by the views that they show. */
const PICTURES = { prompt: 'workbench', run: 'run', checks: 'checks', 'asset-sql': 'table' }

const folder = join(import.meta.dirname, '../../docs/images')

await withSamples(async ({ browser, url, ids }) => {
  for (const [name, file] of Object.entries(PICTURES)) {
    const view = VIEWS.find((one) => one.name === name)
    if (!view) throw new Error(`There is no view ${name}`)
    const context = await browser.newContext({ viewport: { width: 1440, height: 860 } })
    const page = await context.newPage()
    await openView(page, url, view, ids)
    await page.screenshot({ path: join(folder, `${file}.png`) })
    await context.close()
  }
})
