import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { treeMemory } from '../fixtures/tree-memory.ts'

const HEADROOM = 400_000_000
const here = import.meta.dirname

async function childrenOf({ pid }: ChildProcess): Promise<number[]> {
  const text = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8').catch(() => '')
  return text.split(' ').filter(Boolean).map(Number)
}

/** Returns the CPU time of a process, in hundredths of a second. */
async function ticksOf(pid: number): Promise<number> {
  const [, fields = ''] = (await readFile(`/proc/${pid}/stat`, 'utf8')).split(') ')
  return Number(fields.split(' ')[11])
}

describe.runIf(process.platform === 'linux')('a table process', () => {
  it('stops itself if the operating system does not limit its memory', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'byref-'))
    const child = spawn(process.execPath, [join(here, 'table-child.ts'), `${HEADROOM}`], {
      env: {},
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    })
    const ended = once(child, 'exit')
    let most = 0
    const watch = setInterval(() => {
      most = Math.max(most, treeMemory(child.pid as number))
    }, 5)
    const sql = "select repeat('x', 2000000000) from range(3)"
    child.send({ type: 'query', folder, sql, tables: [], rows: 10 })
    expect(await ended).toEqual([null, 'SIGKILL'])
    clearInterval(watch)
    expect(most).toBeLessThan(1_000_000_000)
    await rm(folder, { recursive: true })
  })

  it('stops with the process that started it, even in the middle of a task', async () => {
    const sql =
      'with recursive t as (select 1 a union all select a + 1 from t) select count(*) from t'
    const script = `
      import { createAssets } from ${JSON.stringify(join(here, '../create-assets.ts'))}
      await createAssets().query({ sql: ${JSON.stringify(sql)} })`
    const parent = spawn(process.execPath, ['--input-type=module', '--eval', script], {
      stdio: ['ignore', 'ignore', 'inherit'],
    })
    const ended = once(parent, 'exit')
    await expect.poll(() => childrenOf(parent)).toHaveLength(1)
    const [child = 0] = await childrenOf(parent)
    // By then, DuckDB runs the query.
    await expect.poll(() => ticksOf(child)).toBeGreaterThan(150)
    parent.kill('SIGKILL')
    await ended
    await expect.poll(() => treeMemory(child)).toBe(0)
  })
})
