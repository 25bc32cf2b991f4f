import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'

const hasStrace = spawnSync('strace', ['-V']).status === 0
const child = fileURLToPath(new URL('./fixtures/store-and-say.ts', import.meta.url))
const CALLS = [
  'openat,creat,write,pwrite64,writev,pwritev,ftruncate,fsync,fdatasync',
  'rename,renameat,renameat2,link,linkat',
].join(',')

/** What would be lost if the power failed now: written files, and folders with new names. */
function lostAtEach(acknowledgement: string, trace: string, folder: string): string[][] {
  const unsynced = new Set<string>()
  const lost: string[][] = []
  for (const line of trace.split('\n')) {
    // `12 pwrite64(21</folder/file>, "…", 12, 0) = 12`. A call that another thread interrupts ends in a separate
    // line.
    const [, call = '', rest = ''] =
      /^\d+ +(?:<\.\.\. )?(\w+)(?:\(| resumed>)(.*)$/.exec(line) ?? []
    if (call === 'write' && rest.includes(acknowledgement)) lost.push([...unsynced].sort())
    const [, file = ''] = /^\d+<([^>]+)>/.exec(rest) ?? []
    if (call === 'fsync' || call === 'fdatasync') unsynced.delete(file)
    else if (/write|ftruncate/.test(call) && isKept(file, folder)) unsynced.add(file)
    else if (/O_CREAT/.test(rest) || /^(rename|link)/.test(call)) {
      const named = [...rest.matchAll(/"([^"]+)"/g)].at(-1)?.[1] ?? ''
      if (isKept(named, folder)) unsynced.add(dirname(named))
    }
  }
  return lost
}

/** SQLite recreates its shared memory, and deletes its rollback journal. Neither must survive a power loss. */
function isKept(path: string, folder: string): boolean {
  return path.startsWith(folder) && !/-(shm|journal)$/.test(path)
}

describe.skipIf(!hasStrace)('when the power fails', () => {
  it.each(['log', 'assets'])('nothing that was acknowledged is lost: %s', (what) => {
    const folder = mkdtempSync(join(tmpdir(), 'byref-power-'))
    const kept = join(folder, 'kept')
    mkdirSync(kept)
    const trace = join(folder, 'trace')
    const node = [process.execPath, '--disable-warning=ExperimentalWarning']
    const program = [...node, '--conditions=byref-source', child, what, kept]
    const tracing = ['-f', '-y', '-e', `trace=${CALLS}`, '-s', '8', '-o', trace]
    const { status, stderr } = spawnSync('strace', [...tracing, ...program], { encoding: 'utf8' })
    expect(status, stderr).toBe(0)
    const text = readFileSync(trace, 'utf8')
    expect(text).toContain(`${kept}/`)
    expect(lostAtEach('"stored', text, kept)).toEqual([[], [], [], []])
    rmSync(folder, { recursive: true })
  })
})
