import { metaOf } from '../content/asset-meta.ts'
import type { ConversationEvent } from '../content/events.ts'
import type { Message, Participant } from '../content/message.ts'
import { newId } from '../content/new-id.ts'
import { outline } from '../content/outline.ts'
import type { OutputTarget } from '../content/output-path.ts'
import { toMessage } from '../content/to-message.ts'
import { ByrefError } from '../errors.ts'
import { formatVariableRef } from '../refs/variable-ref.ts'
import type { ModelCall } from './read-response.ts'
import type { CallOutcome } from './run-call.ts'
import type { RunSettings } from './run-settings.ts'
import type { Thread } from './thread.ts'

/** A result whose JSON is longer becomes an asset, unless its tool says otherwise (spec X7). */
const MAX_RESULT_CHARS = 32 * 1024

/** How much of a value a preview shows, and how long its JSON may be. */
const PREVIEW = { items: 3, text: 200, chars: 4 * 1024 }

/** Logs what a call came to: its assets, what it writes among the data, and its result, in one append. */
export async function recordCall(
  thread: Thread,
  call: ModelCall,
  outcome: CallOutcome,
  options: RunSettings,
): Promise<void> {
  const { events } = outcome
  let result: Message
  try {
    const writes = writesOf(call, outcome)
    const large = writes.length === 0 ? await spill(call, outcome, options) : null
    result = resultOf(call, large ?? outcome, writes)
    const written = [...writes.map(({ message }) => message), result].map(created)
    await thread.append([...events, ...(large?.events ?? []), ...written])
  } catch (error) {
    // A write that breaks a schema: the result is that it was refused.
    if (!(error instanceof ByrefError) || !REFUSALS.has(error.code)) throw error
    const { code, message } = error
    result = resultMessage(call, null, { code, message })
    await thread.append([...events, created(result)])
  }
  await thread.stream({
    type: 'TOOL_CALL_RESULT',
    messageId: result.id,
    toolCallId: call.id,
    role: 'tool',
    content: JSON.stringify(result.metadata.tool_result?.error ?? result.content),
  })
}

/** What the data say no to, with reasons that a model can act on. */
const REFUSALS: ReadonlySet<string> = new Set([
  'schema_violation',
  'invalid_data',
  'invalid_message',
])

interface Write {
  target: OutputTarget
  message: Message
}

/** The data messages of a result: success to the first alternative, an error to the second (spec D8). */
function writesOf(call: ModelCall, outcome: CallOutcome): Write[] {
  const failed = 'error' in outcome
  const targets = outcome.outputs[failed ? 1 : 0] ?? []
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

/** A result that is too large for a prompt as an asset, and what stands for it; null for one that is not. */
async function spill(
  call: ModelCall,
  outcome: CallOutcome,
  { assets, tools }: RunSettings,
): Promise<CallOutcome | null> {
  if ('error' in outcome) return null
  const { value } = outcome
  const { maxResultChars = MAX_RESULT_CHARS } = tools.find(({ id }) => id === call.name) ?? {}
  if ((JSON.stringify(value) ?? '').length <= maxResultChars) return null
  const events: ConversationEvent[] = []
  const scoped = assets.scoped({
    by: 'tool',
    tool: call.name,
    toolCallId: call.id,
    onEvent: (event) => void events.push(event),
  })
  const { ref, size } = await scoped.saveAsset({
    asset_type: 'tool_result',
    asset_name: `${call.name} result`,
    content_type: 'application/json',
    content: value,
  })
  const preview = previewOf(value)
  const stand = { assetRef: ref, mimeType: 'application/json', kind: 'file', size, preview }
  return { events, outputs: [], value: stand }
}

/** The value in short: its meta, or the first fields of it as flattened lines. */
function previewOf(value: unknown): unknown {
  const { items, text, chars } = PREVIEW
  const meta = metaOf(value, { items, text })
  if (typeof meta !== 'object' || meta === null) return meta
  if (JSON.stringify(meta).length <= chars) return meta
  const { lines, complete } = outline(meta, { items, text, maxChars: chars })
  return complete ? lines : { ...lines, '…': 'more fields are left out' }
}

function resultOf(call: ModelCall, outcome: CallOutcome, writes: readonly Write[]): Message {
  if ('error' in outcome) return resultMessage(call, null, outcome.error)
  if (writes.length === 0) return resultMessage(call, outcome.value)
  const written_to = writes.map(({ target }) => formatVariableRef({ type: 'variable', ...target }))
  return resultMessage(call, { written_to, preview: previewOf(outcome.value) })
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
