import { type Browser, chromium } from 'playwright-core'

/** The browser of the end-to-end tests, which `npm test` names where it finds one; undefined without one. */
export const browserPath = process.env.BYREF_TEST_BROWSER || undefined

/** Nothing that asks anybody by itself. */
const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

/** Opens the browser of the tests; scripts that are run by hand take Debian's where none is named. */
export function openBrowser(): Promise<Browser> {
  return chromium.launch({ executablePath: browserPath ?? '/usr/bin/chromium', args: FLAGS })
}
