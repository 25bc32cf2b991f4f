import type { ApprovalAnswer } from '../../agent/approve.ts'
import type { Assets } from '../../assets/assets-contract.ts'
import type { ConversationState } from '../../content/conversation-state.ts'
import { isPlainObject } from '../../content/json.ts'
import type { ToolCall } from '../../content/message.ts'
import { newId } from '../../content/new-id.ts'
import { type Speaker, spokenBy } from '../../content/spoken-by.ts'
import type { MessageInput } from '../../content/to-message.ts'
import { ByrefError } from '../../errors.ts'
import { jsonOrText } from '../json-in-text.ts'
import type { Said } from '../serving/say.ts'
import { saveSentFiles } from '../serving/sent-files.ts'
import type { InputItem, MessageItem, Part, ResponsesRequest } from './request.ts'

/** Reads `input` and `instructions`. Throws ByrefError `forbidden`, `bad_request`; what saving a file throws. */
export async function readInput(
  { input, instructions }: ResponsesRequest,
  { state, speaker, assets }: { state: ConversationState; speaker: Speaker; assets: Assets },
): Promise<Said> {
  const items: readonly InputItem[] =
    typeof input === 'string' ? [{ role: 'user', content: input }] : input
  const answers = new Map<string, ApprovalAnswer>()
  const messages: MessageInput[] = []
  if (instructions && instructions !== lastInstructions(state)) {
    messages.push({ role: 'system', name: INSTRUCTIONS, content: instructions })
  }
  const isWaiting = (id: string): boolean => state.calls[id]?.status === 'waiting'
  for (const item of items) {
    if (item.type === 'mcp_approval_response') {
      const { approval_request_id: id, approve, reason } = item
      // Clients send what they said before again.
      if (isWaiting(id)) answers.set(id, { approved: approve, reason: reason ?? undefined })
    } else if (item.type === 'function_call_output' && isWaiting(item.call_id)) {
      answers.set(item.call_id, { approved: true, result: resultOf(item.output) })
    } else if (item.type === 'function_call_output') {
      messages.push(toolResult(item, messages))
    } else if (item.type === 'function_call') {
      messages.push(announcement(item))
    } else if (item.type === undefined || item.type === 'message') {
      messages.push(await toInput(item as MessageItem, assets))
    }
  }
  return { messages: messages.map((message) => spokenBy(message, speaker)), answers }
}

/** Who says the instructions of a request. */
const INSTRUCTIONS = 'instructions'

function lastInstructions({ messages }: ConversationState): unknown {
  return messages.findLast(({ sender }) => sender.name === INSTRUCTIONS)?.content
}

type Item<Type> = Extract<InputItem, { type: Type }>

/** A call of a conversation that the client kept itself, as an answer announces it. */
function announcement({ call_id: id, name, arguments: text }: Item<'function_call'>): MessageInput {
  const args = jsonOrText(text)
  const call: ToolCall = { id, name, arguments: isPlainObject(args) ? args : { value: args } }
  return { role: 'assistant', content: '', metadata: { tool_calls: [call] } }
}

function toolResult(
  { call_id: id, output }: Item<'function_call_output'>,
  before: readonly MessageInput[],
): MessageInput {
  const isAnnounced = before.some(({ metadata }) =>
    (metadata?.tool_calls as ToolCall[] | undefined)?.some((call) => call.id === id),
  )
  if (!isAnnounced) throw new ByrefError('bad_request', `No call "${id}" waits for an output`)
  return {
    role: 'tool',
    content: resultOf(output),
    metadata: { tool_result: { tool_call_id: id } },
  }
}

async function toInput({ role, content }: MessageItem, assets: Assets): Promise<MessageInput> {
  const head = { id: newId(), role: role === 'developer' ? 'system' : role }
  if (typeof content === 'string') return { ...head, content }
  const parts = await Promise.all(content.map((part) => named(part, assets)))
  return { ...head, ...(await saveSentFiles(parts, assets)) }
}

/** A part whose file was uploaded, and is named by its asset's id, with its reference; any other as it is. */
async function named(part: Part, assets: Assets): Promise<unknown> {
  const { type, file_id: id, detail, filename } = part
  if (typeof id !== 'string') return part
  const { ref } = await assets.info(id)
  return { type: type === 'input_image' ? 'image_url' : 'file', url: ref, detail, filename }
}

function resultOf(output: string | readonly Part[]): unknown {
  return typeof output === 'string' ? jsonOrText(output) : output
}
