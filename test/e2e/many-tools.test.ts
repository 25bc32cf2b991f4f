import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, it } from 'vitest'
import { readAll } from '../../src/log/conversation-log.ts'
import { temporaryFolder } from './byref-process.ts'
import { openManyTools, type Stop } from './fixtures/many-tools-agent.ts'

const folder = temporaryFolder()
afterAll(folder.remove)

const CHILD = fileURLToPath(new URL('fixtures/many-tools-child.ts', import.meta.url))
const execArgv = ['--disable-warning=ExperimentalWarning', '--conditions=byref-source']

/** Runs an agent in its own process up to a point, and kills it there. Returns the last prompt of its model. */
async function killedAt(stop: Stop, path: string): Promise<string> {
  const child = fork(CHILD, [path, stop], { execArgv })
  const ended = once(child, 'exit')
  const [prompt] = await Promise.race([
    once(child, 'message'),
    ended.then(() => Promise.reject(new Error('The process ended before it was killed'))),
  ])
  child.kill('SIGKILL')
  const [, signal] = await ended
  expect(signal).toBe('SIGKILL')
  return prompt
}

describe('a process that searches tools, and is killed', () => {
  it.each([
    ['found', 1],
    ['calling', 2],
  ] as const)('continues in another one: %s', async (stop, executions) => {
    const path = join(folder.path, stop)
    mkdirSync(path)
    const prompt = await killedAt(stop, path)
    const { agent, model, log } = openManyTools({ folder: path })
    const run = agent.resume('c')
    expect((await run.result).text).toBe('Done.')
    const calls = readFileSync(join(path, 'calls.txt'), 'utf8')
    expect(calls).toBe('stripe_get_refund {"refund_id":"r7"}\n'.repeat(executions))
    // Equal to the prompt of the other process, byte for byte.
    const [first] = model.requests.map((request) => JSON.stringify(request.prompt))
    if (stop === 'found') expect(first).toBe(prompt)
    else expect(first?.startsWith(prompt.slice(0, -1))).toBe(true)
    const logged: unknown[] = []
    for await (const { event } of readAll(log, 'c')) {
      if (event.type === 'TOOL_CALL_END') logged.push([event.call.name, event.call.via])
    }
    expect(logged).toEqual([
      ['search_tools', undefined],
      ['stripe_get_refund', 'call_tool'],
    ])
    await agent.close()
  })
})
