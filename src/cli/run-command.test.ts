import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it, onTestFinished, vi } from 'vitest'
import { readAll } from '../log/conversation-log.ts'
import { createSqliteLog } from '../log/sqlite-log.ts'
import { command } from './run-command.ts'

it.each([
  ['chart', /^--out saves an image: its name must end in \.png, .*, not ".*chart"$/],
  ['chart.pdf', /its name must end in \.png/],
  ['none/chart.png', /^Cannot write .*: its folder does not exist/],
])('byref run checks --out %s before it starts', async (name, message) => {
  const folder = mkdtempSync(join(tmpdir(), 'byref-run-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const args = ['chart the rain', '--out', join(folder, name), '--data', join(folder, 'data')]
  await expect(command(args)).rejects.toThrow(message)
  expect(readdirSync(folder)).toEqual([])
})

it('saves an image of another type under the right name, and says so', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'byref-run-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  // The demo model responds.
  const keys = ['OPENAI_API_KEY', 'ANTHROPIC_API_KEY', 'GOOGLE_GENERATIVE_AI_API_KEY']
  for (const name of [...keys, 'OPENAI_BASE_URL', 'BYREF_MODEL', 'BYREF_DATABASE']) {
    vi.stubEnv(name, undefined)
  }
  onTestFinished(() => void vi.unstubAllEnvs())
  const table = join(folder, 'rain.csv')
  writeFileSync(table, 'month,rain\nJan,3\nFeb,5\n')
  const notes = vi.spyOn(process.stderr, 'write').mockReturnValue(true)
  vi.spyOn(process.stdout, 'write').mockReturnValue(true)
  onTestFinished(() => void vi.restoreAllMocks())
  const chart = join(folder, 'chart')
  const args = ['chart the rain by month', '--file', table, '--data', join(folder, 'data')]
  const statuses = []
  for (const name of ['chart.png', 'chart.jpg']) {
    statuses.push(await command([...args, '--out', join(folder, name)]))
  }
  expect(statuses).toEqual([0, 1])
  expect(readdirSync(folder).sort()).toEqual(['chart.jpg.png', 'chart.png', 'data', 'rain.csv'])
  expect(readFileSync(`${chart}.jpg.png`).subarray(1, 4).toString()).toBe('PNG')
  expect(notes.mock.calls.join('')).toContain(
    `the image is image/png, not a .jpg: saved ${chart}.jpg.png (image/png, `,
  )
})

it('cancels the run if nobody reads stdout', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'byref-run-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const cli = fileURLToPath(new URL('../cli.ts', import.meta.url))
  const args = [cli, 'run', 'total rain', '--json', '--data', folder]
  const child = spawn(process.execPath, args, { env: { PATH: process.env.PATH } })
  child.stdout.destroy()
  const [status] = await once(child, 'close')
  expect(status).toBe(141)
  const log = createSqliteLog(join(folder, 'conversations.sqlite'))
  const ends: string[] = []
  for (const { id } of (await log.list()).conversations) {
    for await (const { event } of readAll(log, id)) {
      if (event.type === 'RUN_FINISHED') ends.push(event.result.reason)
    }
  }
  expect(ends).toEqual(['cancelled'])
  await log.close()
})
