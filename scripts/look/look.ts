// node --conditions=byref-source scripts/look/look.ts [folder=look] [view] [theme] [width]: pictures of every screen and dialog
// of the workbench, light and dark, at three widths, and what axe and the layout have against them. Uses the pinned browser
// of the tests, or the one that BYREF_TEST_BROWSER names.
import { mkdir } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { checkView } from './check-view.ts'
import { THEMES, VIEWS, WIDTHS } from './views.ts'
import { withSamples } from './with-samples.ts'

const [folder = 'look', only = '', ofTheme = '', ofWidth = ''] = process.argv.slice(2)
let wrong = 0

await withSamples(async ({ browser, url, ids }) => {
  await mkdir(resolve(folder), { recursive: true })
  for (const theme of THEMES.filter((name) => name.includes(ofTheme))) {
    for (const width of WIDTHS.filter((width) => `${width}`.includes(ofWidth))) {
      const viewport = { width, height: width < 500 ? 760 : 900 }
      const context = await browser.newContext({
        viewport,
        colorScheme: theme,
        hasTouch: width < 500,
      })
      for (const view of VIEWS.filter(({ name }) => name.includes(only))) {
        const page = await context.newPage()
        page.setDefaultTimeout(10_000)
        const problems = await checkView(page, url, view, ids).catch((error) => [`${error}`])
        await page.screenshot({ path: join(folder, `${view.name}-${width}-${theme}.png`) })
        await page.close()
        const said = problems.length > 0 ? problems : ['fine']
        for (const one of said) console.log(`${view.name} ${width} ${theme}: ${one}`)
        wrong += problems.length
      }
      await context.close()
    }
  }
})
console.log(wrong === 0 ? 'Nothing is wrong.' : `${wrong} problems`)
process.exitCode = wrong === 0 ? 0 : 1
