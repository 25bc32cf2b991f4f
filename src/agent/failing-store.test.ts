import { expect, it, vi } from 'vitest'
import { memoryRecords } from '../assets/records/memory-records.ts'
import { createStore } from '../assets/stores/create-store.ts'
import { memoryBodies } from '../assets/stores/memory.ts'
import { defineTool } from '../boundary/tool.ts'
import { ByrefError } from '../core/errors.ts'
import { scriptedModel } from '../testing/scripted-model.ts'
import { createAgent } from './agent.ts'

/** Runs a tool whose result is a file, or another value, with a store whose first saves fail. */
async function exportWith({
  retries,
  failures,
  cause,
  value = { report: new Blob(['a,b\n1,2\n'], { type: 'text/csv' }) },
}: {
  retries: number
  failures: number
  cause?: Error
  value?: unknown
}) {
  const bodies = memoryBodies()
  const put: typeof bodies.put = async (...args) => {
    if (failures-- > 0) throw new ByrefError('storage_failed', 'the bucket is down', { cause })
    return bodies.put(...args)
  }
  const store = createStore({ records: memoryRecords(), bodies: { ...bodies, put } })
  let runs = 0
  const tool = defineTool({
    id: 'export',
    description: 'Exports',
    inputSchema: { type: 'object', properties: {} },
    idempotent: true,
    retries,
    execute: () => {
      runs++
      return value
    },
  })
  const model = scriptedModel([{ calls: [{ name: 'export', arguments: {} }] }, 'Done.'])
  const agent = createAgent({ model, tools: [tool], assets: { store } })
  await agent.run({ messages: 'go', conversation: 'c' }).result
  const { messages = [] } = (await agent.conversation('c')) ?? {}
  const result = messages.find(({ metadata }) => metadata.tool_result)
  const events = (await agent.log.read('c')).map(({ event }) => event)
  return { runs, result, events }
}

it('a call fails if the files in its result cannot be stored', async () => {
  const { runs, result } = await exportWith({ retries: 0, failures: 1 })
  expect(runs).toBe(1)
  expect(result?.metadata.tool_result?.error).toEqual({
    code: 'storage_failed',
    message:
      'The tool has run, but its result is lost, because it could not be stored (the bucket is down). Do not repeat the call unless its effects may happen twice.',
  })
})

it('a call fails if its long result cannot be stored, and says that the tool has run', async () => {
  const { runs, result } = await exportWith({ retries: 0, failures: 1, value: 'x'.repeat(40_000) })
  expect(runs).toBe(1)
  expect(result?.metadata.tool_result?.error?.message).toContain(
    'The tool has run, but its result is lost',
  )
})

it('a tool with retries runs again if its result cannot be stored', async () => {
  const { runs, result } = await exportWith({ retries: 1, failures: 1 })
  expect(runs).toBe(2)
  expect(result?.content).toMatchObject({ report: { mimeType: 'text/csv' } })
})

it('hosts of a store are in a process warning, not in the conversation', async () => {
  const warn = vi.spyOn(process, 'emitWarning').mockImplementation(() => {})
  const { result, events } = await exportWith({
    retries: 0,
    failures: 1,
    cause: new Error('connect ECONNREFUSED 10.0.0.7'),
  })
  expect(result?.metadata.tool_result?.error).toMatchObject({
    code: 'storage_failed',
    message: expect.stringContaining('could not be stored (The server failed'),
  })
  expect(JSON.stringify(events)).not.toMatch(/bucket|10\.0/)
  const warning = { message: 'storage_failed: the bucket is down', cause: expect.any(Error) }
  expect(warn).toHaveBeenCalledWith(expect.objectContaining(warning))
  warn.mockRestore()
})
