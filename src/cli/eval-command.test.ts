import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, afterEach, describe, expect, it, vi } from 'vitest'
import { EVAL_TASKS } from '../../eval/tasks/eval-tasks.ts'
import { createSqliteLog } from '../log/sqlite-log.ts'
import { type ProviderAnswer, providerServer } from '../models/fixtures/provider-server.ts'
import { command as run } from './eval-command.ts'
import { runMain } from './fixtures/run-main.ts'
import { UsageError } from './terminal.ts'

const CLI = fileURLToPath(new URL('../cli.ts', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'byref-eval-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const KEYS = /^(OPENAI|ANTHROPIC|GOOGLE|BYREF)_/
const bare = Object.fromEntries(Object.entries(process.env).filter(([name]) => !KEYS.test(name)))

afterEach(() => {
  vi.unstubAllEnvs()
  vi.restoreAllMocks()
})

/** Runs the command in this process, without keys. */
function command(...args: string[]): Promise<number> {
  for (const name of Object.keys(process.env)) if (KEYS.test(name)) vi.stubEnv(name, undefined)
  return run(args)
}

/** Evaluates one task with a server that responds like this. */
async function evaluateAt(answers: ProviderAnswer[], { interrupt = false } = {}) {
  const server = await providerServer(answers)
  const args = [CLI, 'eval', '--model', 'local', '--tasks', 'plain-chat']
  const env = { ...bare, OPENAI_BASE_URL: server.url }
  const child = spawn(process.execPath, args, { env })
  let [out, err] = ['', '']
  child.stdout.on('data', (data) => {
    out += data
  })
  child.stderr.on('data', (data) => {
    err += data
  })
  const ended = new Promise<number | null>((resolve) => child.on('close', resolve))
  if (interrupt) {
    await expect.poll(() => server.requests.length).toBeGreaterThan(0)
    child.kill('SIGINT')
  }
  const status = await ended
  await server.close()
  return { status, out, err, requests: server.requests.length }
}

const text = (content: string): ProviderAnswer => ({
  events: [
    { id: 'c', created: 1, model: 'm', choices: [{ index: 0, delta: { content } }] },
    {
      id: 'c',
      created: 1,
      model: 'm',
      choices: [{ index: 0, delta: {}, finish_reason: 'stop' }],
      usage: { prompt_tokens: 100, completion_tokens: 2, total_tokens: 102 },
    },
    '[DONE]',
  ],
})

describe('byref eval', () => {
  it('reports what to set without a key', async () => {
    await expect(command()).rejects.toThrow(/^byref eval needs a model\. Set OPENAI_API_KEY/)
    await expect(command('--model', 'openai/gpt-5-mini')).rejects.toThrow('Set OPENAI_API_KEY.')
  })

  it.each([
    [['--tasks', 'rows-to-tool,nothing'], 'There is no task or group "nothing"'],
    [['--by', 'values'], '--by of byref eval takes value, reference or both, not "values"'],
    [['--runs', '0'], '--runs of byref eval takes a whole number from 1 to 1000, not "0"'],
    [['--concurrency', 'x'], '--concurrency of byref eval takes a whole number from 1 to 1000'],
    [['--max-tokens=-1'], '--max-tokens of byref eval takes a number above 0'],
    [['--max-cost', '1'], '--max-cost needs a model whose price is known'],
    [['--out', join(folder, 'no', 'report.md')], 'its folder does not exist'],
  ])('rejects %j', async (args, message) => {
    const failed = command('--model', 'ideal', ...args)
    await expect(failed).rejects.toThrow(message)
    await expect(failed).rejects.toBeInstanceOf(UsageError)
  })

  it('lists the tasks that match a pattern', async () => {
    const lines: string[] = []
    vi.spyOn(process.stdout, 'write').mockImplementation((line) => lines.push(String(line)) > 0)
    await command('--list')
    expect(lines.splice(0)).toHaveLength(EVAL_TASKS.length)
    await command('--list', '--tasks', 'quarantine-*,restrain')
    expect(lines.map((line) => line.split(/ +/)[1])).toEqual([
      ...['plain-chat', 'small-result', 'small-argument'],
      ...['quarantine-by-name', 'quarantine-question'],
    ])
  })

  it('writes its reports, and keeps the conversations', async () => {
    const [out = '', json = '', data = ''] = ['r.md', 'r.json', 'data'].map((name) =>
      join(folder, name),
    )
    const args = ['--model', 'ideal', '--tasks', 'plain-chat', '--out', out, '--json', json]
    const { status, err } = await runMain('eval', ...args, '--data', data)
    expect([status, err]).toEqual([0, expect.stringMatching(/\[2\/2\] .*: passed, 1 round trips/)])
    expect(readFileSync(out, 'utf8')).toMatch(/^# byref eval: ideal\n\n\*\*No model was asked/)
    expect(JSON.parse(readFileSync(json, 'utf8')).results).toHaveLength(2)
    const log = createSqliteLog(join(data, 'conversations.sqlite'))
    const { conversations } = await log.list()
    await log.close()
    expect(conversations.map(({ title }) => title).sort()).toEqual([
      'plain-chat, by reference, run 1: passed',
      'plain-chat, by value, run 1: passed',
    ])
  })

  it('calls a server, counts its tokens, and reports the cost of a run before it starts', async () => {
    const { status, out, err, requests } = await evaluateAt([text('0')])
    expect([status, requests]).toEqual([0, 2])
    expect(err).toMatch(/model local \(openai-compatible.*\n2 runs\. Without errors/)
    expect(out).toMatch('| done | 0 of 1 (0 %, 0–79 %) | 0 of 1 (0 %, 0–79 %) |  |')
    expect(out).toMatch('| input tokens | 100 | 100 | 1.00 |')
    expect(out).toMatch(/- plain-chat, by value, run 1: The answer does not contain the number/)
  })

  it('reports partial results after a rejected key and after Ctrl-C', async () => {
    const rejected = await evaluateAt([{ status: 401, body: { error: { message: 'bad key' } } }])
    expect([rejected.status, rejected.out]).toEqual([
      1,
      expect.stringMatching(/\*\*Not complete:\*\* .*rejected the API key \(401: bad key\)/),
    ])
    const stopped = await evaluateAt([{ events: [], hang: true }], { interrupt: true })
    expect([stopped.status, stopped.out]).toEqual([
      1,
      expect.stringMatching(/complete:\*\* It was stopped\.[\s\S]*\| not run \| 1 \| 1 \|/),
    ])
  })
})
