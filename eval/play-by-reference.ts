import { createAgent } from '../src/agent/agent.ts'
import type { Agent } from '../src/agent/agent-contract.ts'
import type { ConversationEvent, FinishReason } from '../src/core/events/events.ts'
import { isPlainObject } from '../src/core/json/json.ts'
import { readMetadata } from '../src/core/messages/read-metadata.ts'
import type { MessageInput } from '../src/core/messages/to-message.ts'
import { newId } from '../src/core/new-id.ts'
import { boardOf } from '../src/engine/session-values.ts'
import type { EvalData, TaskInstance, WrittenCall } from './eval-task.ts'
import {
  addUsage,
  answerOf,
  INSTRUCTIONS,
  messagesOf,
  NO_USAGE,
  type Play,
  type PlayOptions,
  Recorder,
} from './play.ts'

/** Plays a task by byref's agent. Rejects if a model call fails, and with the reason of the signal. */
export async function playByReference(instance: TaskInstance, options: PlayOptions): Promise<Play> {
  const { model, capabilities, retry, maxSteps, signal, keep } = options
  const recorder = new Recorder()
  const agent = createAgent({
    model,
    capabilities,
    retry,
    instructions: instance.instructions ?? INSTRUCTIONS,
    tools: recorder.watch(instance.tools('reference', {})),
    limits: { steps: maxSteps },
    trust: instance.trust ?? 'off',
    ...(keep ? { log: keep.storage.log(), assets: { store: keep.storage.store } } : {}),
  })
  const conversation = keep?.id ?? newId()
  const events: ConversationEvent[] = []
  let usage = NO_USAGE
  let [answer, reason] = ['', 'done' as FinishReason]
  try {
    const before = await firstMessages(agent, instance)
    for (const [index, content] of messagesOf(instance, 'reference').entries()) {
      const [data, attachments] = index === 0 ? before : [[], []]
      const said: MessageInput = { role: 'user', content, metadata: { attachments } }
      const run = agent.run({ conversation, messages: [...data, said], signal })
      for await (const event of run) {
        events.push(event)
        if (event.type === 'APPROVAL_REQUESTED') {
          const { toolCallId } = event
          const name = callsIn(events).find(({ id }) => id === toolCallId)?.name ?? ''
          await agent.approve(conversation, toolCallId, answerOf(instance, name))
        }
      }
      const result = await run.result
      signal.throwIfAborted()
      usage = addUsage(usage, result.usage)
      answer = result.text
      reason = result.reason
      if (reason !== 'done') break
    }
  } finally {
    await agent.close()
  }
  const written = callsIn(events)
  return {
    outcome: { received: recorder.received, written, data: dataIn(events), answer },
    reason,
    usage,
    roundTrips: events.filter(({ type }) => type === 'STEP_FINISHED' || type === 'TOOL_USAGE')
      .length,
    large: recorder.large(written),
  }
}

type Attached = { assetRef: string }[]

/** Returns the data and the attachments of the first message. */
async function firstMessages(
  agent: Agent,
  { data = {}, files = [] }: TaskInstance,
): Promise<[MessageInput[], Attached]> {
  const attachments: Attached = []
  for (const { name, text } of files) {
    const { table, asset } = await agent.assets.importFile(Buffer.from(text), { name, by: 'user' })
    attachments.push({ assetRef: (table ?? asset).ref })
  }
  const blocks = Object.entries(data).map(([kind, value]): MessageInput => {
    return { type: 'data', kind, data: value }
  })
  return [blocks, attachments]
}

/** Returns the calls as the model wrote them, with their errors. */
function callsIn(events: readonly ConversationEvent[]): (WrittenCall & { id: string })[] {
  const errors = new Map<string, string>()
  const texts = new Map<string, string>()
  for (const event of events) {
    if (event.type === 'TOOL_CALL_ARGS') {
      texts.set(event.toolCallId, (texts.get(event.toolCallId) ?? '') + event.delta)
    }
    if (event.type !== 'NEW_MESSAGE') continue
    const { result } = readMetadata(event.payload)
    if (result?.error) errors.set(result.callId, result.error.message)
  }
  return events.flatMap((event) => {
    if (event.type !== 'TOOL_CALL_END') return []
    const { id, name, arguments: args } = event.call
    const written = parsed(texts.get(id)) ?? args
    return [{ id, name, arguments: written, error: errors.get(id) ?? null }]
  })
}

/** Returns the streamed arguments: in the log, bytes in them are references. */
function parsed(text: string | undefined): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text ?? '')
    return isPlainObject(value) ? value : null
  } catch {
    return null
  }
}

function dataIn(events: readonly ConversationEvent[]): EvalData {
  const messages = events.flatMap((event) => (event.type === 'NEW_MESSAGE' ? event.payload : []))
  const entries = boardOf(messages).entries()
  return Object.fromEntries(
    entries.map(({ kind, instance, data }) => [instance ? `${kind}#${instance}` : kind, data]),
  )
}
