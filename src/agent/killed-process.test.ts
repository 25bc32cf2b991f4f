import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, it } from 'vitest'
import { defineTool } from '../boundary/tool.ts'
import { createSqliteLog } from '../log/sqlite-log.ts'
import { scriptedModel } from '../testing/scripted-model.ts'
import { createAgent } from './agent.ts'

const wait = defineTool({
  id: 'wait',
  description: 'Waits',
  inputSchema: { type: 'object', properties: {} },
  execute: () => 'ended',
})

const folder = mkdtempSync(join(tmpdir(), 'byref-killed-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Starts a process that runs the conversation `c` with a lease of an hour. */
async function runIn(name: string) {
  const path = join(folder, name)
  const child = fileURLToPath(new URL('fixtures/killed-agent.ts', import.meta.url))
  const killed = spawn(process.execPath, [child, path], { stdio: ['ignore', 'pipe', 'inherit'] })
  await once(killed.stdout, 'data')
  return { killed, log: createSqliteLog(path) }
}

describe('a conversation whose process was killed on this machine', () => {
  it('continues at once, long before its lease has expired', async () => {
    const { killed, log } = await runIn('log.db')
    const lease = await log.find('c')
    killed.kill('SIGKILL')
    await once(killed, 'exit')
    const agent = createAgent({ model: scriptedModel(['Resumed.']), log, tools: [wait] })
    const { text } = await agent.resume('c').result
    expect(text).toBe('Resumed.')
    expect(lease?.lease?.expiresIn).toBeGreaterThan(3_000_000)
    await agent.close()
    await log.close()
  })

  it('continues in a process that has waited for it, long before its lease has expired', async () => {
    const { killed, log } = await runIn('waited.db')
    const refused = Promise.withResolvers<void>()
    const agent = createAgent({
      model: scriptedModel(['Resumed.']),
      log: {
        ...log,
        async append(...given) {
          try {
            return await log.append(...given)
          } catch (error) {
            refused.resolve()
            throw error
          }
        },
      },
      tools: [wait],
    })
    const run = agent.resume('c')
    await refused.promise
    killed.kill('SIGKILL')
    expect((await run.result).text).toBe('Resumed.')
    await agent.close()
    await log.close()
  })
})
