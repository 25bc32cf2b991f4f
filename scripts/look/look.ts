// Takes pictures of every screen and dialog of the workbench, light and dark, at three widths, and prints problems
// that axe and the layout checks find. --text 200 sets the font size of the browser to 200 %, like its settings.
// --rtl shows the page from right to left. --contrast uses a high contrast theme like that of Windows. Uses the
// pinned browser of the tests, or the one that BYREF_TEST_BROWSER names. Run: node --conditions=byref-source
// scripts/look/look.ts [folder=look] [view] [theme] [width] [--text 100] [--rtl] [--contrast]
import { mkdir } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { checkView } from './check-view.ts'
import { setTextSize, turnAround } from './page-settings.ts'
import { THEMES, VIEWS, WIDTHS } from './views.ts'
import { withSamples } from './with-samples.ts'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    text: { type: 'string', default: '100' },
    rtl: { type: 'boolean', default: false },
    contrast: { type: 'boolean', default: false },
  },
})
const [folder = 'look', only = '', ofTheme = '', ofWidth = ''] = positionals
const suffix = [
  values.text === '100' ? '' : `-${values.text}`,
  values.rtl ? '-rtl' : '',
  values.contrast ? '-contrast' : '',
].join('')
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
        forcedColors: values.contrast ? 'active' : 'none',
      })
      if (values.rtl) await turnAround(context)
      for (const view of VIEWS.filter(({ name }) => name.includes(only))) {
        const page = await context.newPage()
        page.setDefaultTimeout(10_000)
        await setTextSize(page, Number(values.text) / 100)
        const problems = await checkView(page, url, view, ids).catch((error) => [`${error}`])
        await page.screenshot({ path: join(folder, `${view.name}-${width}-${theme}${suffix}.png`) })
        await page.close()
        const said = problems.length > 0 ? problems : ['fine']
        for (const one of said) console.log(`${view.name} ${width} ${theme}${suffix}: ${one}`)
        wrong += problems.length
      }
      await context.close()
    }
  }
})
console.log(wrong === 0 ? 'Nothing is wrong.' : `${wrong} problems`)
process.exitCode = wrong === 0 ? 0 : 1
