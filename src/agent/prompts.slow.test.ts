import { describe, expect, it } from 'vitest'
import type { Assets } from '../assets/assets-contract.ts'
import { createAssets } from '../assets/create-assets.ts'
import { PNG } from '../assets/fixtures/stores.ts'
import { defineTool } from '../boundary/tool.ts'
import { emptyConversation } from '../core/events/conversation-state.ts'
import type { LogRecord } from '../core/events/events.ts'
import { foldAll } from '../core/events/fold.ts'
import { isDeleted } from '../core/messages/message.ts'
import type { MessageInput } from '../core/messages/to-message.ts'
import { type ConversationLog, readAll } from '../log/conversation-log.ts'
import { createMemoryLog } from '../log/memory-log.ts'
import { type ScriptedTurn, scriptedModel } from '../testing/scripted-model.ts'
import { createAgent } from './agent.ts'
import { createRandom, type Random } from './fixtures/random.ts'

const any = { type: 'object', properties: { of: {} } } as const

const tools = [
  defineTool({ id: 'small', description: 'x', inputSchema: any, execute: ({ of }) => ({ of }) }),
  defineTool({
    id: 'long',
    description: 'x',
    inputSchema: any,
    execute: () => ({ rows: Array.from({ length: 40 }, (_, i) => ({ i, word: `word ${i}` })) }),
  }),
  defineTool({
    id: 'huge',
    description: 'x',
    inputSchema: any,
    execute: () => Array.from({ length: 3000 }, (_, i) => `line ${i} of many`),
  }),
  defineTool({
    id: 'camera',
    description: 'x',
    inputSchema: any,
    execute: () => ({ picture: picture() }),
  }),
  defineTool({
    id: 'fails',
    description: 'x',
    inputSchema: any,
    execute() {
      throw new Error('no luck')
    },
  }),
]

/** Number of conversations. Use 1,000 and more by hand. */
const CONVERSATIONS = Number(process.env.BYREF_CONVERSATIONS ?? 60)

let pictures = 0

/** A unique picture. Bytes after its end are not shown. */
function picture(): Uint8Array {
  return new Uint8Array([...PNG, ...new TextEncoder().encode(`${pictures++}`)])
}

/** Number of messages of people. */
let said = 0

interface Played {
  log: ConversationLog
  assets: Assets
  /** The prompts as JSON, each with the position of the log at that time. */
  prompts: { messages: string[]; position: number }[]
  records: LogRecord[]
  /** Whether there was an asset. */
  deleted: boolean
  /** The deleted messages: their unique words, and the position of the deletion. */
  taken: { words: string | null; position: number }[]
}

/** A conversation with some turns, determined by the numbers of `random`. */
async function play(random: Random): Promise<Played> {
  const log = createMemoryLog()
  const assets = createAssets()
  const prompts: Played['prompts'] = []
  const made: string[] = []
  let deleted = false
  const taken: Played['taken'] = []
  for (let turn = 0, turns = 2 + random.below(3); turn < turns; turn++) {
    const answers = Array.from({ length: random.below(4) }, () => answer(random, made))
    const model = {
      ...scriptedModel([...answers, 'Done.']),
      provider: 'openai.responses',
      modelId: 'gpt-5',
    }
    const agent = createAgent({
      model,
      tools,
      assets,
      log,
      history: { maxTokens: random.pick([600, 3000, 100_000]) },
      media: { maxParts: random.pick([2, 20]) },
      callbacks: {
        onEvent(event) {
          if (event.type === 'ASSET_CREATED') made.push(event.payload.ref)
        },
      },
    })
    const messages = await wordsOf(random, assets, made)
    await agent.run({ conversation: 'c', messages }).result
    const starts = (await recordsOf(log)).filter(({ event }) => event.type === 'STEP_STARTED')
    for (const [i, request] of model.requests.entries()) {
      const step = starts[starts.length - model.requests.length + i] as LogRecord
      const shown = request.prompt.map((message) => JSON.stringify(message))
      prompts.push({ messages: shown, position: step.position })
    }
    await agent.close()
    const victim = random.below(4) === 0 ? random.pick([...made]) : undefined
    if (victim !== undefined) {
      await assets.delete(victim)
      made.splice(made.indexOf(victim), 1)
      deleted = true
    }
    if (random.below(3) === 0) taken.push(...(await deleteSome(random, log)))
  }
  return { log, assets, prompts, records: await recordsOf(log), deleted, taken }
}

/** Deletes one message or some, of any kind. */
async function deleteSome(random: Random, log: ConversationLog): Promise<Played['taken']> {
  const agent = createAgent({ model: scriptedModel([]), log })
  const left = [...foldAll(emptyConversation, await recordsOf(log)).messages].filter(
    (message) => !isDeleted(message),
  )
  const taken: Played['taken'] = []
  for (let some = 1 + random.below(4); some > 0 && left.length > 0; some--) {
    const [message] = left.splice(random.below(left.length), 1)
    if (!message) continue
    await agent.deleteMessage('c', message.id)
    const words = /said-\d+\./.exec(JSON.stringify(message.content))?.[0] ?? null
    taken.push({ words, position: (await recordsOf(log)).length })
  }
  await agent.close()
  return taken
}

async function recordsOf(log: ConversationLog): Promise<LogRecord[]> {
  const records: LogRecord[] = []
  for await (const record of readAll(log, 'c')) records.push(record)
  return records
}

function answer(random: Random, made: readonly string[]): ScriptedTurn {
  const calls = Array.from({ length: 1 + random.below(3) }, () => {
    const name = random.pick(['small', 'small', 'long', 'huge', 'camera', 'fails'])
    const of = random.pick([1, 'text', made[0] ?? null, { deep: ['x'] }])
    const path = random.pick([null, '†state.a', '†state.b', '†notes'])
    return { name, arguments: { of, ...(path && name !== 'fails' ? { _outputPath: path } : {}) } }
  })
  return { text: random.pick(['', 'Let me see.']), calls }
}

async function wordsOf(random: Random, assets: Assets, made: string[]): Promise<MessageInput[]> {
  const words: MessageInput[] = []
  if (random.below(2))
    words.push({
      type: 'state',
      state: { n: random.below(9), text: 'x'.repeat(random.below(400)) },
    })
  if (random.below(4) === 0) words.push({ role: 'system', content: 'Be kind.' })
  const attachments: { assetRef: string }[] = []
  if (random.below(2))
    attachments.push({ assetRef: (await assets.save(picture(), null, { name: 'p.png' })).ref })
  if (random.below(3) === 0) {
    const content = { rows: [{ a: 1, b: random.below(100) }] }
    attachments.push({ assetRef: (await assets.saveAsset({ content_type: 'data', content })).ref })
  }
  const named = made.length > 0 && random.below(3) === 0 ? ` <|${random.pick([...made])}|>` : ''
  made.push(...attachments.map(({ assetRef }) => assetRef))
  words.push({ role: 'user', content: `Go on, said-${said++}.${named}`, metadata: { attachments } })
  return words
}

/** A prompt without the parts that are new for each call. */
function withoutTail(messages: readonly string[]): readonly string[] {
  return /\[No longer available/.test(messages.at(-1) ?? '') ? messages.slice(0, -1) : messages
}

describe('the prompts of a conversation', () => {
  it('begin with the previous prompt except its tail, unless a compaction or deletion is in between', async () => {
    const random = createRandom(7)
    const seen = { compactions: 0, deletions: 0, taken: 0, repeated: 0, prompts: 0 }
    for (let i = 0; i < CONVERSATIONS; i++) {
      const { prompts, records, deleted, taken } = await play(random)
      seen.deletions += deleted ? 1 : 0
      for (const [k, { messages, position }] of prompts.entries()) {
        seen.prompts++
        const before = prompts[k - 1]
        if (!before) continue
        if (taken.some((one) => one.position > before.position && one.position < position)) {
          seen.taken++
          continue
        }
        const compacted = records.some(
          (record) =>
            record.event.type === 'PROMPT_COMPACTED' &&
            record.position > before.position &&
            isBefore(record, position, records),
        )
        if (compacted) {
          seen.compactions++
          continue
        }
        const start = withoutTail(before.messages)
        expect(messages.slice(0, start.length), `conversation ${i}, prompt ${k}`).toEqual(start)
        seen.repeated++
      }
    }
    expect(seen.compactions).toBeGreaterThan(CONVERSATIONS / 5)
    expect(seen.deletions).toBeGreaterThan(CONVERSATIONS / 5)
    expect(seen.taken).toBeGreaterThan(CONVERSATIONS / 5)
    expect(seen.repeated).toBeGreaterThan(CONVERSATIONS)
  }, 600_000)

  it('have a form that every provider accepts, without deleted messages', async () => {
    const random = createRandom(13)
    const seen = { prompts: 0, words: 0, bridges: 0 }
    for (let i = 0; i < CONVERSATIONS / 2; i++) {
      const { prompts, taken } = await play(random)
      for (const { messages, position } of prompts) {
        const gone = taken.filter((one) => one.position < position)
        if (gone.length === 0) continue
        seen.prompts++
        expect(problemsOf(messages), `conversation ${i}`).toEqual([])
        const text = messages.join('\n')
        if (text.includes('[A message was deleted here]')) seen.bridges++
        for (const { words } of gone) {
          if (words === null) continue
          seen.words++
          expect(text).not.toContain(words)
        }
      }
    }
    expect(seen.prompts).toBeGreaterThan(CONVERSATIONS / 10)
    expect(seen.words).toBeGreaterThan(CONVERSATIONS / 20)
    expect(seen.bridges).toBeGreaterThan(0)
  }, 300_000)

  it('are the same when the log is folded again', async () => {
    const random = createRandom(11)
    let compared = 0
    for (let i = 0; i < CONVERSATIONS / 4; i++) {
      const { log, assets, prompts, taken } = await play(random)
      const last = prompts.at(-1)
      if (taken.some(({ position }) => position > (last?.position ?? 0))) continue
      const model = {
        ...scriptedModel(['Once more.', 'Done.']),
        provider: 'openai.responses',
        modelId: 'gpt-5',
      }
      const again = createAgent({ model, tools, assets, log })
      await again.run({ conversation: 'c', messages: [{ role: 'user', content: 'And now?' }] })
        .result
      const events = (await recordsOf(log)).slice(-8)
      if (events.some(({ event }) => event.type === 'PROMPT_COMPACTED')) continue
      const start = withoutTail(last?.messages ?? [])
      const fresh = model.requests[0]?.prompt.map((message) => JSON.stringify(message)) ?? []
      expect(fresh.slice(0, start.length), `conversation ${i}`).toEqual(start)
      compared++
    }
    expect(compared).toBeGreaterThan(CONVERSATIONS / 10)
  }, 300_000)
})

/** Returns what a provider would reject in a prompt. */
function problemsOf(prompt: readonly string[]): string[] {
  const messages = prompt.map((text) => JSON.parse(text) as { role: string; content: unknown })
  const said = messages.filter(({ role }) => role !== 'system')
  return said.flatMap(({ role, content }, i) => {
    const before = said[i - 1]
    const [called, answered] = [idsIn(before?.content, 'tool-call'), idsIn(content, 'tool-result')]
    return [
      ...(i === 0 && role !== 'user' ? ['it does not begin with the user'] : []),
      ...(role === 'assistant' && before?.role === 'assistant' ? ['an answer to an answer'] : []),
      ...(called.join() === answered.join() ? [] : [`calls ${called} and results ${answered}`]),
    ]
  })
}

function idsIn(content: unknown, type: string): string[] {
  const parts = Array.isArray(content) ? content : []
  return parts.flatMap((part) => (part.type === type ? part.toolCallId : []))
}

/** Whether a compaction was made before the prompt of the step that started there, also directly after its start. */
function isBefore({ position }: LogRecord, step: number, records: readonly LogRecord[]): boolean {
  const next = records.find(
    (record) => record.position > step && record.event.type !== 'PROMPT_COMPACTED',
  )
  return position < (next?.position ?? Infinity)
}
