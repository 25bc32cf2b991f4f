// node --conditions=byref-source scripts/look/look.ts [folder=look] [view] [theme] [width]: pictures of every screen and dialog of the workbench, light and dark, at three
// widths, and what axe and the layout have against them. Needs a browser: BYREF_TEST_BROWSER, or Chromium where Debian puts it.
import { mkdir } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { chromium } from 'playwright-core'
import { serve, temporaryFolder } from '../../test/e2e/byref-process.ts'
import { checkView } from './check-view.ts'
import { openSamples } from './open-samples.ts'
import { THEMES, VIEWS, WIDTHS } from './views.ts'

const [folder = 'look', only = '', ofTheme = '', ofWidth = ''] = process.argv.slice(2)
const data = temporaryFolder()
const server = await serve(data.path)
const executablePath = process.env.BYREF_TEST_BROWSER ?? '/usr/bin/chromium'
const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu'] })
let wrong = 0
try {
  const ids = await openSamples(await browser.newPage(), server.url)
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
        const problems = await checkView(page, server.url, view, ids).catch((error) => [`${error}`])
        await page.screenshot({ path: join(folder, `${view.name}-${width}-${theme}.png`) })
        await page.close()
        for (const problem of problems) console.log(`${view.name} ${width} ${theme}: ${problem}`)
        wrong += problems.length
      }
      await context.close()
    }
  }
} finally {
  await browser.close()
  await server.stop()
  data.remove()
}
console.log(wrong === 0 ? 'Nothing is wrong.' : `${wrong} problems`)
process.exitCode = wrong === 0 ? 0 : 1
