import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { appFiles } from './app-files.ts'

const PAGE = '<!doctype html><title>byref</title>'
const folder = mkdtempSync(join(tmpdir(), 'byref-app-'))
const files = {
  'index.html': PAGE,
  'offline.html': '<p>saved</p>',
  'icon.svg': '<svg/>',
  'assets/main-DY4YfrkT.js': 'main()',
  'assets/first.js': 'first()',
  'samples/index.json': '[]',
  'main.js': 'start()',
  'fonts/a b.woff2': 'font',
  'about.html': '<h1>About</h1>',
  '.env': 'SECRET=1',
  '.git/config': 'secret',
  '.well-known/security.txt': 'Contact: …',
}

beforeAll(() => {
  for (const [name, text] of Object.entries(files)) {
    const file = join(folder, name)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, text)
  }
})
afterAll(() => rmSync(folder, { recursive: true }))

const get = (path: string, headers: Record<string, string> = {}) =>
  appFiles(folder).request(path, { headers })
const AS_PAGE = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' }

describe('appFiles', () => {
  it('returns the files of the app, and those with a hash in their name are immutable', async () => {
    for (const [name, text] of Object.entries(files)) {
      if (/^\.(env|git)/.test(name)) continue
      expect([name, await (await get(`/${name === 'index.html' ? '' : name}`)).text()]).toEqual([
        name,
        text,
      ])
    }
    const script = await get('/assets/main-DY4YfrkT.js')
    expect(script.headers.get('cache-control')).toContain('immutable')
    expect((await get('/assets/first.js')).headers.get('cache-control')).toBeNull()
    expect((await get('/main.js')).headers.get('content-type')).toContain('text/javascript')
    for (const page of ['/', '/about.html']) {
      const { headers } = await get(page)
      expect(headers.get('cache-control')).toBe('no-cache')
      expect(headers.get('content-security-policy')).toMatch(/script-src 'self';/)
    }
  })

  it('returns its page for every URL in it, also for fields with a dot, with a policy', async () => {
    for (const path of [
      '/',
      '/c/x.y',
      '/assets/a1',
      '/assets/rain.csv',
      '/assets/a1/content/files/read.me',
    ]) {
      const page = await get(path, AS_PAGE)
      expect([path, page.status, await page.text()]).toEqual([path, 200, PAGE])
      expect(page.headers.get('content-security-policy')).toMatch(/script-src 'self';/)
    }
  })

  it('does not return a page for the URL of a file', async () => {
    for (const path of ['/assets/main-00000000.js', '/samples/none.json', '/none.js', '/a/b.png']) {
      expect([path, (await get(path)).status]).toEqual([path, 404])
    }
    expect(await (await get('/assets/a1')).text()).toBe(PAGE)
  })

  it('does not return hidden files, or files outside its folder', async () => {
    for (const path of ['/.env', '/.git/config', '/..%2fsecret.txt', '/%2e%2e/secret.txt']) {
      expect(await (await get(path, AS_PAGE)).text()).toBe(PAGE)
    }
  })

  it('explains how to build the app if it is not built', async () => {
    const answer = await appFiles(join(folder, 'nowhere')).request('/')
    expect([answer.status, await answer.text()]).toEqual([
      404,
      expect.stringContaining('npm run build:web'),
    ])
  })
})
