// node --expose-gc scripts/torture/edits/large-edits.ts [text MB=100] [table MB=200]: edits a text, JSON and a table of these
// sizes in a folder, checks every byte, and prints the time and the memory of each.
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Assets } from '../../../src/assets/assets-contract.ts'
import { createAssets } from '../../../src/assets/create-assets.ts'
import type { Edit } from '../../../src/assets/edit/edit.ts'
import { createFsAssetStore } from '../../../src/assets/stores/fs.ts'

/** A text of numbered lines, by its lines. */
export function* numberedLines(count: number): Generator<string> {
  for (let i = 0; i < count; i++) yield `${String(i).padStart(9, '0')} ${'é'.repeat(20)}\n`
}

/** Bytes of a line of {@link numberedLines}. */
export const LINE_BYTES = 51

/** A stream of texts in chunks of about 64 KiB. */
export function streamOfTexts(texts: Iterable<string>): ReadableStream<Uint8Array> {
  return ReadableStream.from(chunks(texts))
}

function* chunks(texts: Iterable<string>): Generator<Uint8Array> {
  let chunk = ''
  for (const text of texts) {
    chunk += text
    if (chunk.length < 64 * 1024) continue
    yield Buffer.from(chunk)
    chunk = ''
  }
  yield Buffer.from(chunk)
}

/** Edits a text near its start, in its middle and at its end. Every other byte stays unchanged. */
export async function editLargeText(assets: Assets, lines: number): Promise<void> {
  const { ref } = await assets.save(streamOfTexts(numberedLines(lines)), 'text/plain')
  const at = [1, Math.floor(lines / 2), lines - 1].map((n) => String(n).padStart(9, '0'))
  const edits: Edit[] = at.map((find) => ({ find, replace: `changed ${find}` }))
  const result = await assets.edit(ref, edits)
  function* expected(): Generator<string> {
    for (const line of numberedLines(lines)) {
      yield at.includes(line.slice(0, 9)) ? `changed ${line}` : line
    }
  }
  await assertContent(assets, result.ref, expected())
  await assertContent(assets, ref, numberedLines(lines))
}

async function assertContent(assets: Assets, ref: string, texts: Iterable<string>): Promise<void> {
  const hash = createHash('sha256')
  for (const chunk of chunks(texts)) hash.update(chunk)
  const { digest } = await assets.info(ref)
  assert.equal(digest, hash.digest('hex'))
}

/** Replaces one value of a list of objects by its index, in JSON with this many items. */
async function editLargeJson(assets: Assets, items: number): Promise<void> {
  const item = (i: number, n: string): string => `{"id":${i},"n":${n}}`
  function* json(changed: number | null): Generator<string> {
    yield '['
    for (let i = 0; i < items; i++) {
      yield `${i > 0 ? ',' : ''}${item(i, i === changed ? '"changed"' : '1.50')}`
    }
    yield ']'
  }
  const middle = Math.floor(items / 2)
  const { ref } = await assets.save(streamOfTexts(json(null)), 'application/json')
  const path = `/${middle}/n`
  const result = await assets.edit(ref, [{ op: 'replace', path, value: 'changed' }])
  await assertContent(assets, result.ref, json(middle))
}

/** Changes a column of every row, and removes one of a hundred rows, in a table whose CSV has this many bytes. */
async function editLargeTable(assets: Assets, bytes: number): Promise<void> {
  const row = (i: number): string => `${i},${(i * 2654435761) % 2 ** 32},name ${i}\n`
  const count = Math.ceil(bytes / row(1_000_000).length)
  function* csv(): Generator<string> {
    yield 'id,hash,name\n'
    for (let i = 0; i < count; i++) yield row(i)
  }
  const { table } = await assets.importFile(streamOfTexts(csv()), { name: 'large.csv' })
  const ref = table?.ref ?? ''
  const all = await assets.edit(ref, [{ sql: "SELECT id, hash, 'new ' || name AS name FROM rows" }])
  assert.equal(all.asset.table?.rows, count)
  const middle = await assets.resolve(`${all.ref}/content/rows/${count >> 1}`)
  assert.equal((middle as { name: string }).name, `new name ${count >> 1}`)
  const sql = 'SELECT id, hash, name FROM rows WHERE id % 100 = 7'
  const edited = await assets.edit(ref, [{ sql }])
  const rows = Math.ceil((count - 7) / 100)
  assert.equal(edited.asset.table?.rows, rows)
  const id = 7 + (rows - 1) * 100
  const last = await assets.resolve(`${edited.ref}/content/rows/${rows - 1}`)
  assert.deepEqual(last, { id, hash: (id * 2654435761) % 2 ** 32, name: `name ${id}` })
  assert.equal((await assets.info(ref)).table?.rows, count)
}

async function measured(name: string, work: () => Promise<void>): Promise<void> {
  globalThis.gc?.()
  const before = process.memoryUsage().rss
  let most = before
  const timer = setInterval(() => {
    most = Math.max(most, process.memoryUsage().rss)
  }, 20)
  const start = performance.now()
  await work().finally(() => clearInterval(timer))
  const seconds = ((performance.now() - start) / 1000).toFixed(1)
  console.log(`${name}: ${seconds} s, at most ${Math.round((most - before) / 1e6)} MB more memory`)
}

if (import.meta.main) {
  const [textMb = 100, tableMb = 200] = process.argv.slice(2).map(Number)
  const folder = await mkdtemp(join(tmpdir(), 'byref-large-edits-'))
  const assets = createAssets({ store: createFsAssetStore({ rootDir: folder }) })
  await measured(`a text of ${textMb} MB`, () =>
    editLargeText(assets, Math.ceil((textMb * 1e6) / LINE_BYTES)),
  )
  await measured(`JSON of ${textMb} MB`, () => editLargeJson(assets, (textMb * 1e6) / 26))
  await measured(`a table of ${tableMb} MB`, () => editLargeTable(assets, tableMb * 1e6))
  await rm(folder, { recursive: true, force: true })
}
