import type { Assets } from '../assets/assets.ts'
import { metaOf } from '../content/asset-meta.ts'
import type { ConversationEvent } from '../content/events.ts'
import type { JsonValue } from '../content/json.ts'
import type { Message, Participant } from '../content/message.ts'
import { newId } from '../content/new-id.ts'
import type { OutputTarget } from '../content/output-path.ts'
import { toMessage } from '../content/to-message.ts'
import { ByrefError } from '../errors.ts'
import { formatVariableRef } from '../refs/variable-ref.ts'
import { outputAlternatives } from './data-targets.ts'
import type { LoopOptions } from './loop.ts'
import type { ModelCall } from './read-response.ts'
import type { CallOutcome } from './run-call.ts'
import type { Thread } from './thread.ts'

/** A result whose JSON is longer becomes an asset, and the model gets its reference and a preview (spec X7). */
const SPILL_BYTES = 32 * 1024

/** How much of a value a preview shows. */
const PREVIEW = { items: 3, text: 200 }

/** Logs what a call came to: its assets, what it writes among the data, and its result, in one append. */
export async function recordCall(
  thread: Thread,
  call: ModelCall,
  outcome: CallOutcome,
  options: LoopOptions,
): Promise<void> {
  let result: Message
  try {
    const writes = writesOf(call, outcome, options)
    result =
      'error' in outcome
        ? failure(call, outcome.error)
        : await success(call, outcome.value, writes, options)
    await thread.append([
      ...outcome.events,
      ...writes.map(({ message }) => created(message)),
      created(result),
    ])
  } catch (error) {
    // A write that breaks a schema, or a path that names nothing: the result is that it was refused.
    if (!(error instanceof ByrefError) || error.code.startsWith('storage')) throw error
    const { code, message } = error
    result = failure(call, { code, message })
    await thread.append([...outcome.events, created(result)])
  }
  await thread.stream({
    type: 'TOOL_CALL_RESULT',
    messageId: result.id,
    toolCallId: call.id,
    role: 'tool',
    content: JSON.stringify(result.metadata.tool_result?.error ?? result.content),
  })
}

interface Write {
  target: OutputTarget
  message: Message
}

/** The data messages of a result: success to the first alternative, an error to the second (spec D8). */
function writesOf(call: ModelCall, outcome: CallOutcome, { tools }: LoopOptions): Write[] {
  const tool = tools.find(({ id }) => id === call.name)
  const failed = 'error' in outcome
  const targets = outputAlternatives(call, tool)[failed ? 1 : 0] ?? []
  const _date = new Date().toISOString()
  return targets.map((target) => ({
    target,
    message: toMessage({
      type: 'data',
      kind: target.kind,
      ...(target.instance === undefined ? {} : { _instance: target.instance }),
      data: failed ? outcome.error : outcome.value,
      ...(target.path.length > 0 ? { _path: target.path } : {}),
      _call: call.id,
      _date,
      _outputMethod: 'set',
      sender: sender(call),
    }),
  }))
}

async function success(
  call: ModelCall,
  value: unknown,
  writes: readonly Write[],
  { assets }: LoopOptions,
): Promise<Message> {
  if (writes.length === 0) return resultMessage(call, await spilled(call, value, assets))
  const written_to = writes.map(({ target }) => formatVariableRef({ type: 'variable', ...target }))
  return resultMessage(call, { written_to, preview: metaOf(value, PREVIEW) })
}

/** The value, or what stands for one that is too large for a prompt. */
async function spilled(call: ModelCall, value: unknown, assets: Assets): Promise<unknown> {
  const json = JSON.stringify(value) ?? 'null'
  if (json.length <= SPILL_BYTES) return value
  const scoped = assets.scoped({ by: 'tool', tool: call.name, toolCallId: call.id })
  const { ref, size } = await scoped.saveAsset({
    asset_type: 'tool_result',
    asset_name: `${call.name} result`,
    content_type: 'application/json',
    content: value,
  })
  const preview: JsonValue = metaOf(value, PREVIEW)
  return { assetRef: ref, mimeType: 'application/json', kind: 'file', size, preview }
}

function failure(call: ModelCall, error: { code: string; message: string }): Message {
  return resultMessage(call, null, error)
}

function resultMessage(
  call: ModelCall,
  content: unknown,
  error?: { code: string; message: string },
): Message {
  const text = typeof content === 'string'
  return {
    id: newId(),
    sender: sender(call),
    message_type: 'note',
    content_type: text ? 'text/plain' : 'application/json',
    content,
    timestamp: new Date().toISOString(),
    metadata: { tool_result: { tool_call_id: call.id, ...(error ? { error } : {}) } },
  }
}

function sender({ name }: ModelCall): Participant {
  return { participant_id: name, participant_role: 'tool', name }
}

function created(message: Message): ConversationEvent {
  return { type: 'NEW_MESSAGE', payload: message }
}
