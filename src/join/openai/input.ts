import type { ApprovalAnswer } from '../../agent/approve.ts'
import type { Assets } from '../../assets/assets-contract.ts'
import { decodeDataUrl, parseDataUrl } from '../../assets/bodies/data-url.ts'
import type { ConversationState } from '../../content/conversation-state.ts'
import { isPlainObject } from '../../content/json.ts'
import type { ToolCall } from '../../content/message.ts'
import { newId } from '../../content/new-id.ts'
import type { MessageInput } from '../../content/to-message.ts'
import { ByrefError } from '../../errors.ts'
import { attachFile, type SentFile } from '../serving/attach-file.ts'
import type { InputItem, MessageItem, Part, ResponsesRequest } from './request.ts'

/** What a request says: messages, and answers to calls that wait. */
export interface Said {
  messages: MessageInput[]
  answers: Map<string, ApprovalAnswer>
}

/** Reads `input` and `instructions`. Throws ByrefError `bad_request`; what saving a file throws. */
export async function readInput(
  { input, instructions }: ResponsesRequest,
  { state, assets }: { state: ConversationState; assets: Assets },
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
      answers.set(id, { approved: approve, reason: reason ?? undefined })
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
  return { messages, answers }
}

/** Who says the instructions of a request. */
const INSTRUCTIONS = 'instructions'

function lastInstructions({ messages }: ConversationState): unknown {
  return messages.findLast(({ sender }) => sender.name === INSTRUCTIONS)?.content
}

type Item<Type> = Extract<InputItem, { type: Type }>

/** A call of a conversation that the client kept itself, as an answer announces it. */
function announcement({ call_id: id, name, arguments: text }: Item<'function_call'>): MessageInput {
  const args = parsed(text)
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
  const files = content.map((part) => ({ part, file: sentFile(part) }))
  const attachments = await Promise.all(
    files.flatMap(({ file }) => (file ? [attachFile(assets, file)] : [])),
  )
  const others = files.flatMap(({ part, file }) => (file ? [] : [part]))
  const parts = await Promise.all(others.map((part) => toPart(part, assets)))
  return { ...head, content: parts, metadata: { attachments } }
}

/** The body that a part brings along, as a data URL; null for one that is text or elsewhere. */
function sentFile({ type, image_url: image, file_data: data, filename }: Part): SentFile | null {
  const url = type === 'input_image' ? image : type === 'input_file' ? data : null
  const name = typeof filename === 'string' ? { name: filename } : {}
  const found = typeof url === 'string' ? parseDataUrl(url) : null
  const bytes = found && decodeDataUrl(found)
  if (bytes) return { data: bytes, mime: found.mime, ...name }
  return type === 'input_file' && typeof data === 'string' ? { data, ...name } : null
}

/** Files that were uploaded are named by their assets' ids. */
async function toPart(part: Part, assets: Assets): Promise<unknown> {
  const { type, file_id: id, detail, filename } = part
  if (typeof id !== 'string') return part
  const { ref } = await assets.info(id)
  return { type: type === 'input_image' ? 'image_url' : 'file', url: ref, detail, filename }
}

function resultOf(output: string | readonly Part[]): unknown {
  return typeof output === 'string' ? parsed(output) : output
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
