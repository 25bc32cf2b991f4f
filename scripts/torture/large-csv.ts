// node scripts/torture/large-csv.ts [MB=200]: a scripted model with only the native tools reads the last row of a
// large CSV, by search, by lines and by SQL. Prints the time and the memory of each.
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createAgent } from '../../src/agent/agent.ts'
import { createFsAssetStore } from '../../src/assets/stores/fs.ts'
import { scriptedModel } from '../../src/testing/scripted-model.ts'

const [mb = '200'] = process.argv.slice(2)
const ROWS = Math.ceil((Number(mb) * 1_000_000) / 50)
const MOST = 300_000_000

/** A line of 50 bytes. */
const lineOf = (row: number): string => `${row},city ${row}`.padEnd(49, '.')

function* linesOf(): Generator<Uint8Array> {
  yield Buffer.from('id,city\n')
  for (let row = 0; row < ROWS; row += 1_000) {
    const count = Math.min(1_000, ROWS - row)
    const lines = Array.from({ length: count }, (_, i) => lineOf(row + i))
    yield Buffer.from(`${lines.join('\n')}\n`)
  }
}

let peak = 0
const before = process.memoryUsage.rss()
setInterval(() => {
  peak = Math.max(peak, process.memoryUsage.rss() - before)
}, 20).unref()

const rootDir = await mkdtemp(join(tmpdir(), 'byref-csv-'))
try {
  const last = `city ${ROWS - 1}`
  const sql = 'select city from "asset://rows" order by id desc limit 1'
  const calls = [
    { name: 'search_asset', arguments: { ref: 'asset://rows', query: `${ROWS - 1},${last}` } },
    { name: 'fetch_asset', arguments: { ref: 'asset://rows', startLine: ROWS + 1 } },
    { name: 'query_tables', arguments: { sql } },
    { name: 'fetch_asset', arguments: { ref: 'asset://rows-table', startLine: ROWS } },
  ]
  const times: number[] = []
  const turns = calls.map((call) => () => {
    times.push(performance.now())
    return { calls: [call] }
  })
  const end = () => {
    times.push(performance.now())
    return 'Done'
  }
  const model = scriptedModel([...turns, end])
  const assets = { store: createFsAssetStore({ rootDir }) }
  const agent = createAgent({ model, tools: ['query_tables'], assets })
  const body = ReadableStream.from(linesOf()) as ReadableStream<Uint8Array>
  const { size } = await agent.assets.save(body, 'text/csv', { assetId: 'rows', name: 'rows.csv' })
  const attachments = [{ assetRef: 'asset://rows' }]
  const run = agent.run({
    messages: [{ role: 'user', content: 'What is last?', metadata: { attachments } }],
  })
  await run.result
  const results = run.messages.flatMap(({ metadata, content }) =>
    metadata.tool_result ? [JSON.stringify(content)] : [],
  )
  assert.equal(results.length, calls.length)
  for (const [i, result] of results.entries()) {
    assert.ok(result.includes(last), `${calls[i]?.name}: ${result.slice(0, 500)}`)
    const ms = Math.round((times[i + 1] ?? 0) - (times[i] ?? 0))
    console.log(`${calls[i]?.name}: ${ms} ms`)
  }
  console.log(`${size} bytes, at most ${Math.round(peak / 1e6)} MB of memory`)
  assert.ok(peak < MOST)
} finally {
  await rm(rootDir, { recursive: true, force: true })
}
