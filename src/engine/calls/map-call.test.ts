import { describe, expect, it } from 'vitest'
import { createAgent } from '../../agent/agent.ts'
import { prompts, say } from '../../agent/fixtures/agent.ts'
import { createAssets } from '../../assets/create-assets.ts'
import type { JsonSchema } from '../../boundary/describe-schema.ts'
import { defineTool, type Tool } from '../../boundary/tool.ts'
import { createMemoryLog } from '../../log/memory-log.ts'
import { scriptedModel } from '../../testing/scripted-model.ts'

const comments = [{ text: 'a', by: 'x' }, { text: 'b' }, { text: 'c', by: 'z' }]

function rateTool(options: Partial<Tool> = {}) {
  const seen: Record<string, unknown>[] = []
  const keys: string[] = []
  const rate = defineTool({
    id: 'rate',
    description: '',
    inputSchema: { type: 'object' },
    idempotent: true,
    execute(input, { toolCallId }) {
      seen.push(input)
      keys.push(toolCallId)
      if (input.text === 'b') throw new Error('no b')
      return `${input.text}!`
    },
    ...options,
  } as Tool<Record<string, unknown>> & { inputSchema: JsonSchema })
  return { rate, seen, keys }
}

const mapped = (args: Record<string, unknown>) => ({
  calls: [{ id: 'm', name: 'rate', arguments: args }],
})

async function runOf(args: Record<string, unknown>, options: Partial<Tool> = {}) {
  const { rate, seen, keys } = rateTool(options)
  const model = scriptedModel([mapped(args), 'Done.'])
  const log = createMemoryLog()
  const agent = createAgent({ model, tools: [rate], log })
  const run = agent.run({
    conversation: 'c',
    messages: [{ type: 'state', state: { comments, suffix: '?' } }, ...say('go')],
  })
  await run.result
  const result = run.messages.find(({ metadata }) => metadata.tool_result)
  const events = (await log.read('c', { limit: 1000 })).map(({ event }) => event)
  return { run, seen, keys, result, events, model }
}

describe('_each', () => {
  it('runs a tool over a list, with results and errors in order', async () => {
    const { seen, keys, result, events } = await runOf({
      _each: '†state.comments',
      text: '†item.text',
      n: '†index',
      by: '†item.by || †state.suffix',
      all: '†item',
      end: '†state.suffix',
    })
    expect(seen[0]).toEqual({ text: 'a', n: 0, by: 'x', all: comments[0], end: '?' })
    expect(seen[1]).toMatchObject({ n: 1, by: '?' })
    expect(keys).toEqual(['m/0', 'm/1', 'm/2'])
    expect(result?.content).toEqual([
      'a!',
      { index: 1, error: { code: 'tool_failed', message: 'no b' } },
      'c!',
    ])
    const items = (type: string) => events.filter((event) => event.type === type && 'item' in event)
    expect(items('TOOL_STARTED')).toHaveLength(3)
    expect(items('TOOL_FINISHED')).toHaveLength(3)
  })

  it('accepts rows of a table, a literal list, and an empty list', async () => {
    const assets = createAssets()
    const csv = new TextEncoder().encode('text\nq\nr\n')
    const { table } = await assets.importFile(csv, { name: 'a.csv' })
    const { ref: assetRef } = await assets.save(csv, 'text/csv')
    const content = { csv: { assetRef, mimeType: 'text/csv', kind: 'file' } }
    const result = await assets.saveAsset({ content_type: 'application/json', content })
    const lists: [unknown, unknown][] = [
      [`${table?.ref}/content/rows`, ['q!', 'r!']],
      [{ assetRef: table?.ref, rowCount: 2, rows: [{ text: 'q' }] }, ['q!', 'r!']],
      [`${result.ref}/content/csv`, ['q!', 'r!']],
      [[{ text: 'own' }], ['own!']],
      [[], []],
    ]
    for (const [list, expected] of lists) {
      const { rate } = rateTool()
      const model = scriptedModel([mapped({ _each: list, text: '†item.text' }), 'Done.'])
      const run = createAgent({ model, tools: [rate], assets }).run({ messages: say('go') })
      await run.result
      const result = run.messages.find(({ metadata }) => metadata.tool_result)
      expect(result?.content).toEqual(expected)
    }
  })

  it('reports the problem: not a list, no such field, a tool that cannot be mapped', async () => {
    const error = async (args: Record<string, unknown>, options?: Partial<Tool>) => {
      const { result } = await runOf(args, options)
      return result?.metadata.tool_result?.error ?? result?.content
    }
    expect(await error({ _each: '†state.suffix' })).toMatchObject({ code: 'invalid_arguments' })
    expect(await error({ _each: '†state.none' })).toMatchObject({ code: 'variable_not_found' })
    expect(await error({ _each: [{ a: 1 }], text: '†item.b' })).toMatchObject([
      { index: 0, error: { code: 'variable_not_found' } },
    ])
    const once = { idempotent: false }
    expect(await error({ _each: '†state.comments' }, once)).toMatchObject({
      code: 'invalid_arguments',
      message: expect.stringContaining('cannot be mapped'),
    })
  })

  it('is offered to the model only on tools that can be mapped', async () => {
    const { model } = await runOf({ text: 'x' })
    expect(JSON.stringify(model.requests[0]?.tools)).toContain('_each')
    const plain = await runOf({ text: 'x' }, { mappable: false })
    expect(JSON.stringify(plain.model.requests[0]?.tools)).not.toContain('_each')
  })

  it('writes the whole list with _outputPath, and makes assets of bodies in items', async () => {
    const { rate } = rateTool({
      execute: ({ n }) => ({ n, file: new Uint8Array([1, 2, Number(n)]) }),
    })
    const model = scriptedModel([
      mapped({ _each: [1, 2], n: '†index', _outputPath: '†state.files' }),
      'Done.',
    ])
    const agent = createAgent({ model, tools: [rate] })
    const run = agent.run({ messages: say('go') })
    await run.result
    const written = run.messages.find(({ content_type }) => content_type === 'data')
    expect(written?.content).toMatchObject({ data: [{ n: 0 }, { n: 1 }] })
    expect(prompts(model)[1]).toContain('asset://')
  })

  it('asks once for all items, and runs what was approved', async () => {
    const { rate, seen } = rateTool({ needsApproval: true })
    const log = createMemoryLog()
    const model = scriptedModel([mapped({ _each: '†state.comments', text: '†item.text' }), 'Done.'])
    const agent = createAgent({
      model,
      tools: [rate],
      log,
      callbacks: {
        async onEvent(event) {
          if (event.type !== 'APPROVAL_REQUESTED') return
          expect(event.items).toEqual([{ text: 'a' }, { text: 'b' }, { text: 'c' }])
          const changed = [{ text: 'A' }, { text: 'B' }]
          const wrong = agent.approve('c', 'm', { approved: true, arguments: changed })
          await expect(wrong).rejects.toMatchObject({ code: 'invalid_arguments' })
          await agent.approve('c', 'm', { approved: true, arguments: [...changed, { text: 'C' }] })
        },
      },
    })
    const run = agent.run({
      conversation: 'c',
      messages: [{ type: 'state', state: { comments } }, ...say('go')],
    })
    await run.result
    expect(seen).toEqual([{ text: 'A' }, { text: 'B' }, { text: 'C' }])
  })
})
