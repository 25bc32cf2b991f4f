import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createAssets } from '../assets/create-assets.ts'
import { createFsAssetStore } from '../assets/stores/fs.ts'
import type { ConversationEvent } from '../core/events/events.ts'
import { toMessage } from '../core/messages/to-message.ts'
import { createSqliteLog } from '../log/sqlite-log.ts'
import { runMain } from './fixtures/run-main.ts'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'byref-'))
})
afterEach(() => rm(folder, { recursive: true, force: true }))

function byref(...args: string[]) {
  return runMain('assets', ...args, '--data', join(folder, 'data'))
}

async function json(...args: string[]) {
  const { out } = await byref(...args, '--json')
  return out.trim() === ''
    ? []
    : out
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line))
}

async function put(name: string, text: string | Uint8Array) {
  await writeFile(join(folder, name), text)
  return (await json('put', join(folder, name)))[0]
}

function saying(content: string): ConversationEvent {
  return { type: 'NEW_MESSAGE', payload: toMessage({ role: 'user', content }) }
}

describe('byref assets', () => {
  it('puts, lists, shows, gets and removes', async () => {
    const { asset, table } = await put('x.csv', 'a,b\n1,2\n')
    const bytes = new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 255])
    const { asset: picture } = await put('x.png', bytes)
    expect((await json('ls')).map((info) => info.ref)).toEqual([picture.ref, table.ref, asset.ref])
    expect(await json('ls', '--limit', '1')).toHaveLength(1)
    expect((await byref('ls')).out).toContain('x.csv')
    const { out } = await byref('info', table.ref)
    expect(out).toContain('content/columns/0/name: a')
    expect(out).toContain('table/rows: 1')
    expect((await byref('get', `${table.ref}/content/rows/0`)).out).toBe('{"a":1,"b":2}')
    expect((await byref('get', picture.assetId)).bytes).toEqual(Buffer.from(bytes))
    expect((await byref('get', picture.ref, join(folder, 'out.png'))).err).toContain(
      '10 bytes, image/png',
    )
    expect(await readFile(join(folder, 'out.png'))).toEqual(Buffer.from(bytes))
    expect((await byref('rm', picture.ref)).status).toBe(0)
    const again = await byref('rm', picture.ref)
    expect([again.status, again.err]).toEqual([1, `byref: There is no asset ${picture.ref}\n`])
  })

  it('rejects an option that the task ignores', async () => {
    const { asset } = await put('x.txt', 'x')
    const { status, err } = await byref('rm', asset.ref, '--dry-run')
    expect([status, err]).toEqual([
      2,
      'byref: --dry-run goes with byref assets gc, not with rm (byref assets --help)\n',
    ])
    expect((await byref('info', asset.ref)).status).toBe(0)
  })

  // A file that no user can read.
  it.skipIf(!existsSync('/proc/self/mem'))(
    'continues after a file that cannot be read',
    async () => {
      await writeFile(join(folder, 'x.txt'), 'x')
      const { status, out, err } = await byref('put', '/proc/self/mem', join(folder, 'x.txt'))
      expect([status, out]).toEqual([1, expect.stringContaining('x.txt')])
      expect(err).toMatch(/^byref: Cannot read \/proc\/self\/mem: EIO/)
    },
  )

  it('accepts stdin, continues after a failed file, and leaves no partial file', async () => {
    const cli = fileURLToPath(new URL('../cli.ts', import.meta.url))
    const args = ['put', '-', '--name', 'in.csv', '--data', join(folder, 'data')]
    const { status, stdout } = spawnSync(process.execPath, [cli, 'assets', ...args], {
      input: 'a,b\n1,2\n',
      encoding: 'utf8',
    })
    expect([status, stdout]).toEqual([0, expect.stringMatching(/in\.csv\n.*\ttable of /)])
    await writeFile(join(folder, 'broken.csv'), 'a,b\n1,"2\n')
    await writeFile(join(folder, 'fine.txt'), 'fine')
    const files = ['none.txt', 'broken.csv', 'fine.txt'].map((name) => join(folder, name))
    const mixed = await byref('put', ...files)
    expect(mixed.status).toBe(1)
    expect(mixed.err).toMatch(
      /^byref: Cannot read .*none\.txt.*\nbyref: No table: broken\.csv, line 2: a quote is opened and never closed/,
    )
    expect(mixed.out).toMatch(/broken\.csv\n.*fine\.txt\n$/)
    const [fine] = await json('ls')
    const beside = await readdir(folder)
    expect((await byref('get', fine.ref, join(folder, 'no', 'where.txt'))).status).toBe(1)
    expect((await byref('get', fine.ref, join(folder, 'data'))).status).toBe(1)
    expect(await readdir(folder)).toEqual(beside)
  })

  it('does not create a folder for reading', async () => {
    for (const task of ['ls', 'gc', 'verify']) {
      expect(await byref(task)).toMatchObject({
        status: 1,
        err: expect.stringMatching(/no data folder/),
      })
    }
    expect(await readdir(folder)).toEqual([])
  })

  it('verifies, and reports damage', async () => {
    const { asset } = await put('x.txt', 'hello')
    const fine = await byref('verify')
    expect([fine.status, fine.err]).toEqual([0, '1 assets, 1 bodies, 0 problems\n'])
    const files = await readdir(join(folder, 'data'), { recursive: true })
    const body = files.find((path) => /bodies.*\.\w+$/.test(path)) ?? ''
    await writeFile(join(folder, 'data', body), 'jello')
    const damaged = await byref('verify')
    expect(damaged.status).toBe(1)
    expect(damaged.out).toContain(`body_damaged\t${asset.assetId}`)
  })

  it('rebuilds a lost index if there are records next to the bodies', async () => {
    const rootDir = join(folder, 'data', 'assets')
    const store = createFsAssetStore({ rootDir, recordFiles: true })
    const assets = createAssets({ store })
    const { ref } = await assets.save(Buffer.from('hello'), 'text/plain', { name: 'x.txt' })
    await store.close?.()
    const index = (await readdir(rootDir)).filter((name) => name.startsWith('records.sqlite'))
    for (const name of index) await rm(join(rootDir, name))
    expect(await byref('rebuild')).toMatchObject({ status: 0, out: '1 assets were restored\n' })
    expect((await byref('get', ref)).out).toBe('hello')
    expect((await byref('verify')).status).toBe(0)
  })

  it('builds no index of bodies without records', async () => {
    await put('x.txt', 'hello')
    expect(await byref('rebuild')).toMatchObject({
      status: 1,
      err: expect.stringContaining('recordFiles'),
    })
    expect((await byref('verify')).status).toBe(0)
  })

  it('removes assets that no conversation references', async () => {
    const { asset: named } = await put('named.txt', 'named')
    const { asset: unnamed } = await put('unnamed.txt', 'unnamed')
    expect((await byref('gc', '--grace', '0')).err).toContain('no log')
    expect(await json('ls')).toHaveLength(2)
    const log = createSqliteLog(join(folder, 'data', 'conversations.sqlite'))
    await log.append('c', [saying(`look at <|${named.ref}|>`)])
    await log.close()
    expect((await byref('gc')).out).toContain('removed 0 unused')
    expect((await json('gc', '--grace', '0', '--dry-run'))[0].deleted).toEqual([unnamed.assetId])
    expect((await json('gc', '--grace', '0'))[0].deleted).toEqual([unnamed.assetId])
    expect((await json('ls')).map((info) => info.assetId)).toEqual([named.assetId])
  })

  it('keeps as many older versions as --keep-versions says', async () => {
    const log = createSqliteLog(join(folder, 'data', 'conversations.sqlite'))
    const store = createFsAssetStore({ rootDir: join(folder, 'data', 'assets') })
    const assets = createAssets({ store })
    const ids: string[] = []
    for (const name of ['a.txt', 'b=.txt']) {
      ids.push((await assets.save(Buffer.from('1'), 'text/plain', { name })).assetId)
      for (const n of [1, 2, 3]) {
        const edit = { find: `${n}`, replace: `${n + 1}` }
        ids.push((await assets.edit(ids.at(-1) ?? '', [edit])).asset.assetId)
      }
      await log.append('c', [saying(`look at <|asset://${ids.at(-1)}|>`)])
    }
    await log.close()
    await store.close?.()
    const [a1, a2, a3, , b1, b2, b3] = ids
    const removed = async (...args: string[]) =>
      (await json('gc', '--grace', '0', '--dry-run', ...args))[0].deleted.toSorted()
    expect(await removed()).toEqual([a1, a2, a3, b1, b2, b3])
    expect(await removed('--keep-versions', 'all')).toEqual([])
    expect(await removed('--keep-versions', '1', '--keep-versions', 'b=.txt=2')).toEqual([
      a1,
      a2,
      b1,
    ])
    expect(await byref('gc', '--keep-versions', 'a.txt')).toMatchObject({
      status: 2,
      err: expect.stringMatching(/--keep-versions of byref assets takes a whole number/),
    })
  })

  it('works in a namespace', async () => {
    await writeFile(join(folder, 'x.txt'), 'x')
    expect((await byref('put', join(folder, 'x.txt'), '--namespace', 'a')).status).toBe(0)
    expect((await byref('ls', '--namespace', 'a')).out).toContain('x.txt')
    expect((await byref('ls', '--namespace', 'b')).out).toBe('')
    expect(await byref('ls')).toMatchObject({
      out: '',
      err: 'Other namespaces also have assets (--namespace): a\n',
    })
    expect((await byref('verify')).err).toBe('1 assets, 1 bodies, 0 problems\n')
    const files = await readdir(join(folder, 'data'), { recursive: true })
    const body = files.find((path) => /bodies.*\.\w+$/.test(path)) ?? ''
    await writeFile(join(folder, 'data', body), 'jello')
    expect(await byref('verify')).toMatchObject({
      status: 1,
      out: expect.stringMatching(/\tin a\n/),
    })
  })

  it('escapes names with terminal control characters', async () => {
    await writeFile(join(folder, 'x.txt'), 'x')
    await byref('put', join(folder, 'x.txt'), '--name', 'a\u001b[31m\nb.txt')
    expect((await byref('ls')).out).toMatch(/\ta\\u\{1b\}\[31m b\.txt\n$/)
    expect((await byref('ls')).out).not.toContain('\u001b')
  })

  it('prints its usage', async () => {
    expect(await byref('--help')).toMatchObject({ status: 0, err: '' })
    expect((await byref()).status).toBe(2)
    for (const wrong of [['tape'], ['get'], ['ls', 'x'], ['ls', '--limit', 'x'], ['put']]) {
      const { status, err } = await byref(...wrong)
      expect(status).toBe(2)
      expect(err).toMatch(/byref assets/)
      expect(err.trim().split('\n')).toHaveLength(1)
    }
    await put('x.txt', 'x')
    expect(await byref('get', 'asset://nope')).toMatchObject({
      status: 1,
      err: 'byref: There is no asset "nope" here.\n',
    })
  })
})
