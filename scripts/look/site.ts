// node --conditions=byref-source scripts/look/site.ts [folder=look/site]: takes pictures of pages of the built
// documentation site, light and dark, for phone and desktop, and prints what axe finds. Uses the browser of the
// tests. Build the site first: npm run build:docs.
import { once } from 'node:events'
import { mkdir, readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { extname, join, resolve } from 'node:path'
import axe, { type AxeResults } from 'axe-core'
import type { Browser, Page } from 'playwright-core'
import { openBrowser } from '../../test/e2e/browser.ts'

const [folder = 'look/site'] = process.argv.slice(2)
const dist = join(import.meta.dirname, '../../site/dist')

const PAGES = {
  home: '/',
  start: '/get-started.html',
  guide: '/guides/references.html',
  concept: '/concepts/how-it-works.html',
  integration: '/integrations/mcp.html',
  events: '/reference/events.html',
  errors: '/reference/errors.html',
  types: '/reference/api/sqlite.html',
  source: '/source/examples/01-references.ts.html',
  decision: '/decisions/038-documentation-site.html',
}

const TYPES: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.png': 'image/png',
  '.txt': 'text/plain; charset=utf-8',
  '.md': 'text/markdown; charset=utf-8',
}

const server = createServer(async (request, response) => {
  const path = decodeURI(new URL(request.url ?? '/', 'http://localhost').pathname)
  const file = join(dist, path.endsWith('/') ? `${path}index.html` : path)
  const body = await readFile(file).catch(() => null)
  response.writeHead(body ? 200 : 404, { 'content-type': TYPES[extname(file)] ?? 'text/plain' })
  response.end(body ?? 'not found')
}).listen(0, '127.0.0.1')
await once(server, 'listening')
const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
const browser = await openBrowser()
await mkdir(resolve(folder), { recursive: true })
let problems = 0
try {
  for (const theme of ['light', 'dark'] as const)
    for (const width of [360, 1440]) problems += await look(browser, theme, width)
} finally {
  await browser.close()
  server.close()
}
console.log(problems === 0 ? 'Nothing is wrong.' : `${problems} problems`)
process.exitCode = problems === 0 ? 0 : 1

async function look(browser: Browser, theme: 'light' | 'dark', width: number): Promise<number> {
  const viewport = { width, height: width < 500 ? 760 : 900 }
  const context = await browser.newContext({
    viewport,
    colorScheme: theme,
    reducedMotion: 'reduce',
  })
  let count = 0
  const report = (name: string, found: string[]) => {
    for (const one of found) console.log(`${name} ${width} ${theme}: ${one}`)
    count += found.length
  }
  for (const [name, path] of Object.entries(PAGES)) {
    const page = await context.newPage()
    const elsewhere: string[] = []
    page.on('request', (request) => {
      if (!request.url().startsWith(url) && !request.url().startsWith('data:'))
        elsewhere.push(request.url())
    })
    await page.goto(url + path, { waitUntil: 'networkidle' })
    await page.screenshot({ path: join(folder, `${name}-${width}-${theme}.png`) })
    report(name, [...(await wrongOn(page)), ...elsewhere.map((request) => `loads ${request}`)])
    if (name === 'home')
      report('search', await search(page, join(folder, `search-${width}-${theme}.png`)))
    await page.close()
  }
  await context.close()
  return count
}

/** Returns what axe finds, and whether the page is wider than its window. */
async function wrongOn(page: Page): Promise<string[]> {
  await page.evaluate(axe.source)
  const { violations } = await page.evaluate<AxeResults>('axe.run()')
  const found = violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html.slice(0, 160)} ${failureSummary ?? ''}`),
  )
  const extra = await page.evaluate<number>(
    'document.documentElement.scrollWidth - document.documentElement.clientWidth',
  )
  return extra > 0 ? [...found, `the page is ${extra} pixels wider than its window`] : found
}

/**
 * Searches, and opens the first result. axe is not used here: the search box of VitePress has links inside options,
 * which it reports.
 */
async function search(page: Page, picture: string): Promise<string[]> {
  await page.getByRole('button', { name: 'Search' }).first().click()
  await page.getByRole('searchbox').fill('flow_denied')
  await page.locator('.VPLocalSearchBox .result').first().waitFor()
  await page.screenshot({ path: picture })
  await page.keyboard.press('Enter')
  await page.waitForURL(/\/(reference|concepts)\//)
  return []
}
