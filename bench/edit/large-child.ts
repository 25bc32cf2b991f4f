// One measurement of bench/edit/large.ts, in its own process: node large-child.ts <folder> <case> <ref> <round>
import type { Edit } from '../../src/assets/edit/edit.ts'
import { createAssets } from '../../src/index.ts'
import { answerParent, cpuTime } from '../agent/in-child.ts'

/** The result of a measurement. */
export interface Measurement {
  milliseconds: number
  /** CPU time of all threads. */
  cpu: number
  /** Maximum growth of the process, in bytes. */
  memory: number
  result: string
}

const [folder = '', name = '', ref = '', round = ''] = process.argv.slice(2)
const assets = createAssets({ config: { backend: 'fs', fs: { rootDir: folder } } })

const EDITS: Record<string, Edit> = {
  start: { find: 'the first needle', replace: `edit ${round} at the start` },
  middle: { find: 'the middle needle', replace: `edit ${round} in the middle` },
  end: { find: 'the last needle', replace: `edit ${round} at the end` },
  json: { op: 'replace', path: '/rows/400000/tags/1', value: `edit ${round}` },
  table: { sql: `select * replace (rentals + ${round} as rentals) from rows` },
}

async function edit(edit: Edit): Promise<string> {
  const { diff, ref: made } = await assets.edit(ref, [edit])
  await assets.delete(made)
  return diff
}

async function copy(): Promise<string> {
  const { stream, mime } = await assets.open(ref)
  const { ref: made } = await assets.save(stream, mime)
  await assets.delete(made)
  return ''
}

/** The computation of an edit by value, without reading and saving. */
async function parseAndStringify(): Promise<() => Promise<string>> {
  const text = Buffer.from((await assets.get(ref)).bytes).toString()
  return async () => {
    const value = JSON.parse(text) as { rows: { tags: string[] }[] }
    const row = value.rows[400_000]
    if (row) row.tags[1] = `edit ${round}`
    return String(JSON.stringify(value).length)
  }
}

/** Loads the modules for edits and copies, so that only their work is measured. */
async function warmUp(): Promise<void> {
  const small = await assets.save(Buffer.from('a\nb\n'.repeat(50_000)), 'text/plain')
  const { stream, mime } = await assets.open(small.ref)
  const copied = await assets.save(stream, mime)
  const edited = await assets.edit(small.ref, [{ find: 'b\n', replace: round, occurrence: 7 }])
  for (const { ref } of [small, copied, edited]) await assets.delete(ref)
}

async function main(): Promise<Measurement> {
  await warmUp()
  const known = EDITS[name]
  const byValue = name === 'parse' ? await parseAndStringify() : copy
  const run = known ? () => edit(known) : byValue
  globalThis.gc?.()
  const before = process.memoryUsage.rss()
  let most = before
  const watch = setInterval(() => {
    most = Math.max(most, process.memoryUsage.rss())
  }, 2)
  const cpu = cpuTime()
  const start = performance.now()
  const result = await run()
  const milliseconds = performance.now() - start
  const used = (cpuTime() - cpu) / 1000
  most = Math.max(most, process.memoryUsage.rss())
  clearInterval(watch)
  return { milliseconds, cpu: used, memory: most - before, result: result.slice(0, 200) }
}

answerParent(await main())
