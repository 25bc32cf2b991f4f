import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { createAgent, defineTool } from '../../../src/index.ts'
import { createSqliteLog } from '../../../src/sqlite.ts'
import { scriptedModel } from '../../../src/testing/index.ts'
import { projectFiles } from './project-files.mjs'

const byref = fileURLToPath(new URL('../../..', import.meta.url))
const root = realpathSync(mkdtempSync(join(tmpdir(), 'byref-terminal-')))
afterAll(() => rmSync(root, { recursive: true, force: true }))

let folder: string

beforeEach(() => {
  folder = mkdtempSync(join(root, 'app-'))
  mkdirSync(join(folder, 'node_modules'))
  symlinkSync(byref, join(folder, 'node_modules/byref'), 'junction')
  symlinkSync(join(byref, 'node_modules/zod'), join(folder, 'node_modules/zod'), 'junction')
  const files = projectFiles({
    folder,
    name: 'app',
    template: 'terminal',
    provider: 'demo',
    model: null,
    baseUrl: null,
    byref: '*',
    packageManager: 'npm',
  })
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
})

function start(...args: string[]) {
  const flags = ['--disable-warning=ExperimentalWarning', '--conditions=byref-source']
  const options = { cwd: folder, input: '', encoding: 'utf8' } as const
  return spawnSync(process.execPath, [...flags, 'agent.ts', ...args], options)
}

describe('the terminal template', () => {
  it.each([
    ['--bogus', /^Unknown option '--bogus'.*\(npm start -- --help\)\n$/],
    ['--resume', /^There is no conversation to resume: start one with npm start\n$/],
  ])('answers %s with one line', (arg, line) => {
    const { status, stderr } = start(arg)
    expect(stderr).toMatch(line)
    expect(status).toBe(2)
  })

  it('has help', () => {
    const { status, stdout } = start('--help')
    expect([status, stdout]).toEqual([0, expect.stringMatching(/^npm start -- \[--resume\].*\n$/)])
  })

  it('prints the rest of an interrupted run', async () => {
    const started = Promise.withResolvers<void>()
    const openFile = defineTool({
      id: 'open_file',
      description: 'Runs until its process stops',
      inputSchema: { type: 'object', properties: { path: { type: 'string' } } },
      async execute(_, { signal }) {
        started.resolve()
        await new Promise((resolve) => signal.addEventListener('abort', resolve))
      },
    })
    mkdirSync(join(folder, '.data'))
    const log = createSqliteLog(join(folder, '.data/conversations.sqlite'))
    const model = scriptedModel([
      { calls: [{ name: 'open_file', arguments: { path: 'rain.csv' } }] },
    ])
    const agent = createAgent({ model, tools: [openFile], log })
    agent.run({ messages: 'How much rain fell?' }).result.catch(() => {})
    await started.promise
    await agent.close()
    await log.close()
    const { status, stdout, stderr } = start('--resume')
    expect(stderr).toContain('Resuming "How much rain fell?"')
    expect(stdout).toMatch(/^The tools failed: .*asset:/)
    expect(status).toBe(0)
  })
})
