import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { defineTool, type Tool } from '../boundary/tool.ts'
import type { Message } from '../core/messages/message.ts'
import { type ScriptedTurn, scriptedModel } from '../testing/scripted-model.ts'
import { createAgent } from './agent.ts'
import { prompts, say } from './fixtures/agent.ts'

const echo = defineTool({
  id: 'echo',
  description: 'Gives back what it is given',
  inputSchema: { type: 'object' },
  execute: ({ value }) => value,
})

const rowsOf = (length: number) => Array.from({ length }, (_, i) => ({ id: `row-${i}` }))

/** A tool whose result is large. */
const many = defineTool({
  id: 'many',
  description: 'Gives many rows',
  inputSchema: { type: 'object' },
  idempotent: true,
  execute: () => ({ rows: rowsOf(5_000), size: 'large' }),
})

const broken = defineTool({
  id: 'broken',
  description: 'Fails',
  inputSchema: { type: 'object' },
  execute() {
    throw new Error('the pump is stuck')
  },
})

const call = (name: string, args: object) => ({ name, arguments: { ...args } })

/** Plays these answers of the model. Returns the results of the run, and other values to check. */
async function ran(
  turns: ScriptedTurn[],
  tools: Tool[] = [echo, many, broken],
  data: object[] = [],
) {
  const model = scriptedModel([...turns, 'Done.'])
  const agent = createAgent({ model, tools })
  const run = agent.run({ messages: [...(data as ReturnType<typeof say>), ...say('go')] })
  await run.result
  const results = run.messages.filter(({ metadata }) => metadata.tool_result)
  const values = results.map(({ metadata, content }) => metadata.tool_result?.error ?? content)
  return { agent, run, model, results, values }
}

const dataOf = (messages: readonly Message[]) =>
  messages.flatMap(({ content_type, content }) => (content_type === 'data' ? [content] : []))

describe('†result#N', () => {
  it('names results in later answers: values, offloaded ones, errors, written ones', async () => {
    const { values } = await ran([
      {
        calls: [
          call('echo', { value: { items: [{ id: 'i0' }] } }),
          call('many', {}),
          call('broken', {}),
          call('echo', { value: [1, 2], _outputPath: '†state.list' }),
        ],
      },
      {
        calls: [
          call('echo', { value: '†result#1.items[0].id' }),
          call('echo', { value: '†result#2.rows[4999].id' }),
          call('echo', { value: 'It said <|†result#3.message|> to <|†result#1.items|>' }),
          call('echo', { value: '†result#4[1]' }),
        ],
      },
    ])
    expect(values.slice(4)).toEqual([
      'i0',
      'row-4999',
      'It said the pump is stuck to [{"id":"i0"}]',
      2,
    ])
  })

  it('cannot read results of the same answer, or future ones', async () => {
    const { values } = await ran([
      { calls: [call('echo', { value: 7 }), call('echo', { value: '†result#1' })] },
      { calls: [call('echo', { value: '†result#4' })] },
    ])
    expect(values).toMatchObject([
      7,
      { code: 'variable_not_found', message: expect.stringContaining('_outputPath') },
      { code: 'variable_not_found', message: expect.stringContaining('†result#1 to †result#2') },
    ])
  })

  it('can be mapped over', async () => {
    const mapped = { ...echo, mappable: true }
    const { values } = await ran(
      [
        { calls: [call('many', { _outputPath: '†state.big' })] },
        { calls: [call('echo', { _each: '†result#1.rows', value: '†item.id' })] },
        { calls: [call('echo', { _each: '†state.big.rows', value: '<|†index|>: <|†item.id|>' })] },
        { calls: [call('echo', { value: ['†result#2[1]', '†result#3[4999]'] })] },
      ],
      [mapped, many],
    )
    expect(values[3]).toEqual(['row-1', '4999: row-4999'])
  })

  it('cannot be written to', async () => {
    const { values } = await ran([
      { calls: [call('echo', { value: 1, _outputPath: '†result#1' })] },
    ])
    expect(values).toMatchObject([{ code: 'invalid_reference' }])
  })
})

describe('results that are written to the data', () => {
  it('are kept as assets if they are large, and can be read through', async () => {
    const reads = defineTool({
      id: 'reads',
      description: '',
      inputSchema: { type: 'object' },
      execute: (_, context) => context.read('†state.big.rows[7].id'),
    })
    const { run, values, model, agent } = await ran(
      [
        {
          calls: [
            call('many', { _outputPath: '†state.big' }),
            call('echo', { value: '†state.big.rows[3].id' }),
          ],
        },
        { calls: [call('echo', { value: 'large: <|†state.big.size|>' }), call('reads', {})] },
      ],
      [echo, many, reads],
    )
    expect(values).toEqual([
      {
        written_to: ['†state.big'],
        preview: expect.anything(),
        assetRef: expect.stringMatching(/^asset:/),
        offloaded: true,
      },
      'row-3',
      'large: large',
      'row-7',
    ])
    const [written] = dataOf(run.messages) as { data: { assetRef: string } }[]
    expect(written?.data).toEqual({
      assetRef: expect.stringMatching(/^asset:/),
      mimeType: 'application/json',
      kind: 'file',
      size: expect.any(Number),
      offloaded: true,
    })
    const events = await agent.log.read(run.conversation)
    expect(JSON.stringify(events).length).toBeLessThan(20_000)
    expect(prompts(model)[1]?.length).toBeLessThan(10_000)
  })

  it('cannot be changed in place if they are assets', async () => {
    const { values } = await ran(
      [
        { calls: [call('many', { _outputPath: '†state.big' })] },
        { calls: [call('echo', { value: 'x', _outputPath: '†state.big.rows[0].id' })] },
      ],
      [echo, many],
    )
    expect(values.at(-1)).toMatchObject({ code: 'invalid_data' })
  })

  it('are pushed as assets, and as whole values if they are merged or have a schema', async () => {
    const big = (path: string, method: string) =>
      call('many', { _outputPath: path, _outputMethod: method })
    const { run, values } = await ran(
      [
        { calls: [big('†log.all', 'push'), big('†state.m', 'merge'), big('†bound.b', 'set')] },
        { calls: [call('echo', { value: '†log.all[0].rows[1].id' })] },
      ],
      [echo, many],
      [{ type: 'data', kind: 'bound', schema: { properties: { b: { required: ['rows'] } } } }],
    )
    const [, pushed, merged, bound] = dataOf(run.messages) as { data: object }[]
    expect(pushed?.data).toMatchObject({ offloaded: true })
    expect([Object.keys(merged?.data ?? {}), Object.keys(bound?.data ?? {})]).toEqual([
      ['rows', 'size'],
      ['rows', 'size'],
    ])
    expect(values.at(-1)).toBe('row-1')
  })

  it('are shown by value if they are short, otherwise by a preview', async () => {
    const { values } = await ran([
      {
        calls: [
          call('echo', { value: { n: 1 }, _outputPath: '†state.a && †state.b' }),
          call('echo', { value: 'x'.repeat(2_000), _outputPath: '†state.c' }),
        ],
      },
    ])
    expect(values[0]).toEqual({ written_to: ['†state.a', '†state.b'], value: { n: 1 } })
    expect(values[1]).toMatchObject({ written_to: ['†state.c'], preview: expect.any(String) })
    expect(JSON.stringify(values[1]).length).toBeLessThan(400)
  })

  it('report where an error was written', async () => {
    const { results, run, model } = await ran([
      { calls: [call('broken', { _outputPath: '†state.a || †errors.last' })] },
    ])
    expect(results[0]?.metadata.tool_result).toMatchObject({
      written_to: ['†errors.last'],
      error: { message: 'the pump is stuck (this error is written to †errors.last)' },
    })
    expect(prompts(model)[1]).toContain('written to †errors.last')
    expect(dataOf(run.messages)).toMatchObject([
      { kind: 'errors', data: { message: 'the pump is stuck' } },
    ])
  })
})

describe('toModelOutput', () => {
  const short = { ...many, toModelOutput: (output: unknown) => Object.keys(Object(output)) }

  it('is stored next to the result', async () => {
    const { results } = await ran([{ calls: [call('many', {})] }], [short])
    expect(results[0]?.metadata.tool_result?.model_output).toEqual(['rows', 'size'])
    expect(results[0]?.content).toMatchObject({ offloaded: true })
  })

  it('is called for each item of a mapped call', async () => {
    const tool = { ...echo, mappable: true, toModelOutput: (output: unknown) => `<${output}>` }
    const args = { _each: ['a', 'b'], value: '†item' }
    const { results } = await ran([{ calls: [call('echo', args)] }], [tool])
    expect(results[0]?.content).toEqual(['a', 'b'])
    expect(results[0]?.metadata.tool_result?.model_output).toEqual(['<a>', '<b>'])
  })

  it('fails with a message that does not ask for the work again', async () => {
    const tool = { ...echo, toModelOutput: () => JSON.parse('{') }
    const { values } = await ran([{ calls: [call('echo', { value: 1 })] }], [tool])
    expect(values).toMatchObject([
      {
        code: 'tool_failed',
        message: expect.stringContaining('The tool ran, but its toModelOutput'),
      },
    ])
  })
})

describe('_instance', () => {
  it('lets a model work on 100 instances in one answer, each from its own data', async () => {
    const moderate = defineTool({
      id: 'moderate',
      description: 'Judges a comment',
      inputSchema: z.object({ text: z.string(), limit: z.number() }),
      outputPath: '†comment.verdict',
      execute: ({ text, limit }) => ({ ok: text.length <= limit, of: text }),
    })
    const comments = Array.from({ length: 100 }, (_, i) => {
      return { type: 'data', kind: 'comment', _instance: `c${i}`, data: { text: 'a'.repeat(i) } }
    })
    const { run, values, model, agent } = await ran(
      [
        ({ tools }) => {
          const [tool] = tools ?? []
          const offered = tool?.type === 'function' ? tool.inputSchema.properties : {}
          if (!Object.hasOwn(offered ?? {}, '_instance')) return 'I was offered no instances.'
          return {
            calls: comments.map(({ _instance }) => {
              return call('moderate', { text: '†comment.text', limit: '†rules.limit', _instance })
            }),
          }
        },
      ],
      [moderate as Tool],
      [...comments, { type: 'data', kind: 'rules', data: { limit: 49 } }],
    )
    expect(model.requests.length).toBe(2)
    expect(values[77]).toEqual({
      written_to: ['†comment#c77.verdict'],
      value: { ok: false, of: 'a'.repeat(77) },
    })
    const verdicts = dataOf(run.messages).slice(101) as {
      _instance: string
      data: { ok: boolean }
    }[]
    expect(verdicts.map(({ _instance, data }) => [_instance, data.ok])).toEqual(
      comments.map(({ _instance }, i) => [_instance, i <= 49]),
    )
    await agent.close()
  })

  it('can be read and searched, like saved values, if a prompt shows only their beginning', async () => {
    const text = Array.from({ length: 60 }, (_, i) => `§${i} pays ${i * 10} euros`).join('\n')
    const { values, run } = await ran([
      { calls: [call('echo', { value: text, _outputPath: '†state.contract' })] },
      {
        calls: [
          call('fetch_asset', { ref: '†state.contract', startLine: 41, endLine: 41 }),
          call('search_asset', { ref: '†state.contract', query: 'pays 400 ' }),
          call('fetch_asset', { ref: '†state' }),
          call('fetch_asset', { ref: 'state.contract' }),
        ],
      },
    ])
    const read = { text: '§40 pays 400 euros', startLine: 41 }
    const hits = { hits: [{ line: 41, text: read.text }], total: 1 }
    const state = { text: JSON.stringify({ contract: text }, null, 2) }
    expect(values.slice(1)).toMatchObject([read, hits, state, { code: 'asset_not_found' }])
    expect((await run.result).assets).toHaveLength(3)
  })
})
