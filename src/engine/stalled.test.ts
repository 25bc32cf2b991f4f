import { describe, expect, it, vi } from 'vitest'
import { createAssets } from '../assets/create-assets.ts'
import { defineTool, type Tool } from '../boundary/tool.ts'
import { toMessage } from '../core/messages/to-message.ts'
import { createMemoryLog } from '../log/memory-log.ts'
import { composePolicies } from '../policies/policy.ts'
import { scriptedModel } from '../testing/scripted-model.ts'
import { ConversationRunner } from './conversation-runner.ts'
import { stalledRuns } from './run-errors.ts'
import { type AgentSettings, resolveLimits, resolvePromptOptions } from './run-settings.ts'
import { Session } from './session.ts'

const LEASE_MS = 40

function settingsOf(model: AgentSettings['model'], tool: Tool): AgentSettings {
  return {
    name: null,
    model,
    instructions: '',
    tools: new Map([[tool.id, tool]]),
    later: new Set(),
    deferred: new Set(),
    assets: createAssets(),
    context: undefined,
    limits: resolveLimits(),
    prompt: resolvePromptOptions(model, {}),
    modelSettings: {},
    plugins: new Map(),
    trust: null,
    policy: composePolicies([]),
  }
}

/** Adds a defect to a session: the first append of a result is forgotten, and its caller waits forever. */
function forgetOneResult(session: Session): void {
  const append = session.append.bind(session)
  let forgotten = false
  session.append = (what, mayAppend) =>
    new Promise((resolve, reject) => {
      append((state) => {
        const entry = typeof what === 'function' ? what(state) : what
        const isResult = entry?.events.some(
          (event) => event.type === 'NEW_MESSAGE' && event.payload.metadata.tool_result,
        )
        if (!isResult || forgotten) return entry
        forgotten = true
        return null
      }, mayAppend).then((records) => {
        if (records.length > 0 || !forgotten) resolve(records)
      }, reject)
    })
}

describe('a run that makes no progress although it does not wait', () => {
  it('starts over, logs that, warns, and ends', async () => {
    const warnings: unknown[] = []
    const warn = vi.spyOn(process, 'emitWarning').mockImplementation((...warning: unknown[]) => {
      warnings.push(warning[1])
    })
    const before = stalledRuns()
    const log = createMemoryLog()
    const executed: number[] = []
    const tool = defineTool({
      id: 'work',
      description: 'Works',
      inputSchema: { type: 'object' },
      idempotent: true,
      execute: (_, { attempt }) => {
        executed.push(attempt)
        return 'worked'
      },
    }) as Tool
    const model = scriptedModel([{ calls: [{ name: 'work', arguments: {} }] }, 'done'])
    const message = toMessage({ role: 'user', content: 'go' })
    await log.append('c', [{ type: 'NEW_MESSAGE', payload: message, deliver: 'next_run' }])
    const session = await Session.open({
      log,
      id: 'c',
      owner: 'host',
      leaseMs: LEASE_MS,
      onHandlerError: (_, error) => expect.fail(String(error)),
    })
    forgetOneResult(session)
    const runner = new ConversationRunner({
      session,
      log,
      settings: settingsOf(model, tool),
      owner: 'host',
      hasHandlers: false,
      onFailure: (_, error) => expect.fail(String(error)),
    })
    expect(await runner.released).toEqual({ type: 'idle' })
    const events = (await log.read('c')).map(({ event }) => event)
    expect(events.filter(({ type }) => type === 'RUN_CLAIMED')).toMatchObject([
      { owner: 'host', reason: 'stalled' },
    ])
    expect(events.at(-1)).toMatchObject({ type: 'RUN_FINISHED', result: { reason: 'done' } })
    expect(executed).toEqual([1, 2])
    expect(warnings).toEqual([{ code: 'BYREF_RUN_STALLED' }])
    expect(stalledRuns()).toBe(before + 1)
    warn.mockRestore()
  })
})
