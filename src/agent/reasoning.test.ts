import { describe, expect, it } from 'vitest'
import { createAgUiEvents } from '../integrations/ag-ui/ag-ui-events.ts'
import { RunChunks } from '../integrations/ai-sdk/chat/ui-chunks.ts'
import { uiMessages } from '../integrations/ai-sdk/chat/ui-messages.ts'
import { PartialEvents } from '../server/events/partial-events.ts'
import { scriptedModel } from '../testing/scripted-model.ts'
import { createAgent } from './agent.ts'
import { camera, eventsOf, typesOf } from './fixtures/agent.ts'

const THOUGHT = 'First I look at the picture, and then I describe it.'

function setup() {
  const look = { reasoning: THOUGHT, calls: [{ name: 'camera', arguments: {} }] }
  const model = scriptedModel([look, { reasoning: 'Done.', text: 'A smile.' }])
  return createAgent({ model, tools: [camera] })
}

const isReasoning = (type: string) => type.startsWith('REASONING')

describe('the reasoning of a model', () => {
  it('streams before the answer that keeps it', async () => {
    const events = await eventsOf(setup().run({ messages: 'Look' }))
    expect(typesOf(events).filter(isReasoning)).toEqual([
      'REASONING_MESSAGE_START',
      'REASONING_MESSAGE_CONTENT',
      'REASONING_MESSAGE_END',
      'REASONING_MESSAGE_START',
      'REASONING_MESSAGE_CONTENT',
      'REASONING_MESSAGE_END',
    ])
    const step = events.find((event) => event.type === 'STEP_STARTED')
    const first = events.flatMap((event) =>
      event.type === 'REASONING_MESSAGE_CONTENT' && event.messageId === step?.messageId
        ? event.delta
        : [],
    )
    expect(first.length).toBeGreaterThan(1)
    expect(first.join('')).toBe(THOUGHT)
  })

  it('reaches useChat while it streams, and again when the page is opened', async () => {
    const agent = setup()
    const chunks = new RunChunks(() => true, {})
    const events = await eventsOf(agent.run({ messages: 'Look', conversation: 'c' }))
    const streamed = events.flatMap((event) => chunks.take(event))
    const ids = streamed.flatMap((chunk) => (chunk.type === 'reasoning-start' ? chunk.id : []))
    expect(new Set(ids).size).toBe(2)
    expect(streamed.filter(({ type }) => type === 'reasoning-end')).toHaveLength(2)
    const [, answer] = await uiMessages(agent, 'c')
    const parts = answer?.parts.filter(({ type }) => type === 'reasoning')
    expect(parts).toMatchObject([{ text: THOUGHT }, { text: 'Done.' }])
  })

  it('reaches AG-UI, also for a client that missed it', async () => {
    const events = await eventsOf(setup().run({ messages: 'Look' }))
    const known = { messages: new Set<string>(), results: new Set<string>() }
    const whole = { streamed: createAgUiEvents(known), missed: createAgUiEvents(known) }
    const textOf = (translated: { type: string; delta?: unknown }[]) =>
      translated
        .filter(({ type }) => type === 'REASONING_MESSAGE_CONTENT')
        .map(({ delta }) => delta)
        .join('')
    const streamed = events.flatMap((event) => whole.streamed.take(event))
    const durable = events.filter(({ type }) => !isReasoning(type))
    const missed = durable.flatMap((event) => whole.missed.take(event))
    expect(textOf(streamed)).toBe(`${THOUGHT}Done.`)
    expect(textOf(missed)).toBe(`${THOUGHT}Done.`)
    const types = streamed.map(({ type }) => type).filter(isReasoning)
    expect([types[0], types[1], types.at(-2), types.at(-1)]).toEqual([
      'REASONING_START',
      'REASONING_MESSAGE_START',
      'REASONING_MESSAGE_END',
      'REASONING_END',
    ])
  })

  it('is sent to a reader who joins in the middle', () => {
    const open = new PartialEvents()
    const start = { type: 'REASONING_MESSAGE_START', messageId: 'm', role: 'reasoning' } as const
    const delta = (text: string) =>
      ({ type: 'REASONING_MESSAGE_CONTENT', messageId: 'm', delta: text }) as const
    for (const event of [start, delta('First '), delta('I look')]) open.apply(event)
    expect(open.events()).toEqual([start, delta('First I look')])
    open.apply({ type: 'REASONING_MESSAGE_END', messageId: 'm' })
    expect(open.isEmpty).toBe(true)
  })
})
