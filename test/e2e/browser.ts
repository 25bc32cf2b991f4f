import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { type Browser, chromium } from 'playwright-core'

const PACKAGES = join(import.meta.dirname, '../../node_modules')

/** A browser of the machine that the tests use instead of the pinned one. */
const ownBrowser = process.env.BYREF_TEST_BROWSER || null

/** Whether the browser tests can run: the pinned browser is a Linux program for x64. */
export const hasBrowser =
  ownBrowser !== null || (process.platform === 'linux' && process.arch === 'x64')

/** The browser starts no requests of its own. */
const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

/** Opens the browser that BYREF_TEST_BROWSER names, or else the one that package.json pins. */
export async function openBrowser(): Promise<Browser> {
  if (ownBrowser) return chromium.launch({ executablePath: ownBrowser, args: FLAGS })
  const folder = await pinnedBrowser()
  return chromium.launch({
    executablePath: join(folder, 'chromium'),
    args: FLAGS,
    // Its libraries and fonts are pinned too, so that a page looks the same on every machine.
    env: {
      ...process.env,
      LD_LIBRARY_PATH: join(folder, 'al2023/lib'),
      FONTCONFIG_FILE: join(folder, 'fonts.conf'),
    },
  })
}

/** Returns the folder of the pinned browser with its libraries and fonts. The first call unpacks them (209 MB). */
async function pinnedBrowser(): Promise<string> {
  const manifest = await readFile(join(PACKAGES, '@sparticuz/chromium/package.json'), 'utf8')
  const cache = join(PACKAGES, '.cache')
  const folder = join(cache, `chromium-${JSON.parse(manifest).version}`)
  if (existsSync(folder)) return folder
  await mkdir(cache, { recursive: true })
  const unpacked = await mkdtemp(`${folder}-`)
  // The package unpacks into the temporary folder, and its libraries only if it detects AWS.
  const env = { ...process.env, TMPDIR: unpacked, AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs24.x' }
  const script = "await (await import('@sparticuz/chromium')).default.executablePath()"
  const args = ['--input-type=module', '--eval', script]
  await promisify(execFile)(process.execPath, args, { cwd: PACKAGES, env })
  const fonts = [join(folder, 'fonts'), join(PACKAGES, 'dejavu-fonts-ttf/ttf')]
  await writeFile(join(unpacked, 'fonts.conf'), fontsConfig(fonts, join(folder, 'fonts-cache')))
  // Several test files may unpack concurrently. The first one wins, and its result is complete.
  await rename(unpacked, folder).catch(async (error) => {
    await rm(unpacked, { recursive: true })
    if (!existsSync(folder)) throw error
  })
  return folder
}

function fontsConfig(folders: readonly string[], cache: string): string {
  const lines = [...folders.map((path) => `<dir>${path}</dir>`), `<cachedir>${cache}</cachedir>`]
  return `<?xml version="1.0"?>\n<!DOCTYPE fontconfig SYSTEM "fonts.dtd">\n<fontconfig>\n${lines.join('\n')}\n</fontconfig>\n`
}
