import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import type { ConversationEvent } from '../core/events/events.ts'
import { partialOutput } from '../engine/answer-streams.ts'
import { scriptedModel } from '../testing/scripted-model.ts'
import { createAgent } from './agent.ts'

const schema = z.object({ title: z.string(), rows: z.array(z.object({ n: z.number() })) })

const value = {
  title: 'A title that is longer than one piece of the stream',
  rows: Array.from({ length: 12 }, (_, n) => ({ n })),
}

async function partsOf(text: string) {
  const agent = createAgent({ model: scriptedModel([text]) })
  const run = agent.run({ messages: 'Go', output: schema })
  const parts: unknown[] = []
  for await (const part of run.partialOutputStream) parts.push(part)
  return { parts, result: run.result }
}

describe('run.partialOutputStream', () => {
  it('yields the value as it grows, and at the end the complete value', async () => {
    const { parts, result } = await partsOf(JSON.stringify(value))
    expect(parts.length).toBeGreaterThan(3)
    expect(parts[0]).toEqual({ title: expect.stringMatching(/^A title/) })
    expect((parts[0] as { title: string }).title).not.toBe(value.title)
    const sizes = parts.map((part) => JSON.stringify(part).length)
    expect(sizes).toEqual(sizes.toSorted((a, b) => a - b))
    expect(parts.at(-1)).toEqual(value)
    expect((await result).output).toEqual(value)
  })

  it('yields each text and number of a list once, wherever the stream is cut', async () => {
    const lists = { tags: ['a text', 'x'], numbers: [12, -3.5], last: [['one more text']] }
    for (let blanks = 0; blanks < 24; blanks++) {
      const text = ' '.repeat(blanks) + JSON.stringify(lists)
      const agent = createAgent({ model: scriptedModel([text]) })
      const run = agent.run({ messages: 'Go', output: z.looseObject({}) })
      const parts: unknown[] = []
      for await (const part of run.partialOutputStream) parts.push(part)
      expect(parts.at(-1)).toEqual(lists)
      for (const part of parts as Partial<typeof lists>[]) {
        expect((part.tags ?? []).length).toBeLessThanOrEqual(2)
        expect((part.numbers ?? []).length).toBeLessThanOrEqual(2)
      }
    }
  })

  it('yields a long value less often, and at the end the complete one', async () => {
    const long = { title: 'Long', rows: Array.from({ length: 2_000 }, (_, n) => ({ n })) }
    const agent = createAgent({ model: scriptedModel([JSON.stringify(long)]) })
    const run = agent.run({ messages: 'Go', output: schema })
    const deltas = Array.fromAsync(run).then((events) =>
      events.filter(({ type }) => type === 'TEXT_MESSAGE_CONTENT'),
    )
    const parts = await Array.fromAsync(run.partialOutputStream)
    expect(parts.at(-1)).toEqual(long)
    expect(parts.length).toBeLessThan((await deltas).length * 0.8)
    expect(parts.length).toBeGreaterThan(100)
  })

  it('counts only the JSON of an answer, and not the words before it', async () => {
    const events = async function* (): AsyncGenerator<ConversationEvent> {
      yield { type: 'TEXT_MESSAGE_START', messageId: 'm', role: 'assistant' }
      for (const delta of ['word '.repeat(20_000), '{"a":1', ',"b":2', ',"c":3', '}'])
        yield { type: 'TEXT_MESSAGE_CONTENT', messageId: 'm', delta }
    }
    const parts = await Array.fromAsync(partialOutput(events(), () => undefined))
    expect(parts.length).toBeGreaterThan(2)
    expect(parts.at(-1)).toEqual({ a: 1, b: 2, c: 3 })
  })

  it('yields the value in an answer that wraps it', async () => {
    for (const text of ['{"answer":["a text that is long","b"]}', '["a text that is long","b"]']) {
      const agent = createAgent({ model: scriptedModel([text]) })
      const run = agent.run({ messages: 'Go', output: z.array(z.string()) })
      const parts: unknown[] = []
      for await (const part of run.partialOutputStream) parts.push(part)
      expect(parts.every(Array.isArray)).toBe(true)
      expect(parts.at(-1)).toEqual(['a text that is long', 'b'])
      expect((await run.result).output).toEqual(['a text that is long', 'b'])
    }
  })

  it('starts again when the model corrects its answer', async () => {
    const turns = ['{"title":"No rows"}', JSON.stringify(value)]
    const run = createAgent({ model: scriptedModel(turns) }).run({ messages: 'Go', output: schema })
    const parts: unknown[] = []
    for await (const part of run.partialOutputStream) parts.push(part)
    const first = parts.findIndex((part) => JSON.stringify(part) === turns[0])
    expect(first).toBeGreaterThanOrEqual(0)
    expect(parts[first + 1]).toEqual({ title: expect.stringMatching(/^A title/) })
    expect(parts.at(-1)).toEqual(value)
  })

  it('finds JSON in a code fence, and ignores what follows', async () => {
    const { parts } = await partsOf(`Here:\n\`\`\`json\n${JSON.stringify(value)}\n\`\`\`\nDone.`)
    expect(parts.at(-1)).toEqual(value)
  })

  it('yields nothing for an answer that is not JSON', async () => {
    const agent = createAgent({ model: scriptedModel(['Sorry, no.', JSON.stringify(value)]) })
    const run = agent.run({ messages: 'Go', output: schema })
    const parts: unknown[] = []
    for await (const part of run.partialOutputStream) parts.push(part)
    // The second answer corrects the first.
    expect(parts.at(-1)).toEqual(value)
    expect(parts).not.toContainEqual(expect.stringContaining('Sorry'))
  })

  it('yields the value once if the answer is complete', async () => {
    const agent = createAgent({ model: scriptedModel([JSON.stringify(value)]) })
    const run = agent.run({ messages: 'Go', output: schema })
    await run.result
    const parts: unknown[] = []
    for await (const part of run.partialOutputStream) parts.push(part)
    expect(parts).toEqual([value])
  })

  it('yields nothing for invalid JSON, and throws if the run fails', async () => {
    await expect(partsOf('{"title": nonsense, "rows": []}')).rejects.toThrow(
      'no turn for request 2',
    )
    const turns = ['{"title": nonsense, "rows": []}', JSON.stringify(value)]
    const run = createAgent({ model: scriptedModel(turns) }).run({ messages: 'Go', output: schema })
    for await (const part of run.partialOutputStream)
      expect(JSON.stringify(part)).not.toContain('nonsense')
  })
})
