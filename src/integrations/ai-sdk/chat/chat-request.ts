import type { UIMessage } from 'ai'
import { ByrefError } from '../../../core/errors.ts'
import { isPlainObject } from '../../../core/json/json.ts'

/** What `DefaultChatTransport` sends: the chat's id, and all messages that the browser has. */
export interface ChatRequest {
  id: string
  /** The one that is new, or that has answers about calls. */
  last: UIMessage
  /** What is wanted of it: to be said anew (`again`), in place of one of the same id (`edit`), or just said. */
  how: 'say' | 'again' | 'edit'
  /** The name of the agent that answers, from the transport's `body`. */
  agent?: string
}

/**
 * Reads a request.
 *
 * @throws ByrefError `body_too_large`, `bad_request`
 */
export async function readChatRequest(request: Request, maxBytes: number): Promise<ChatRequest> {
  // A form of another site can send none.
  if (!/^application\/json\b/i.test(request.headers.get('content-type') ?? '')) {
    throw new ByrefError('bad_request', 'The body is to be application/json')
  }
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of request.body ?? []) {
    size += chunk.byteLength
    if (size > maxBytes) {
      const message = `A message and its files have at most ${maxBytes} bytes`
      throw new ByrefError('body_too_large', message)
    }
    chunks.push(chunk)
  }
  const { id, messages, trigger, messageId, agent } = Object(
    parsed(Buffer.concat(chunks).toString()),
  )
  const last: unknown = Array.isArray(messages) ? messages.at(-1) : null
  if (typeof id !== 'string' || !isUIMessage(last)) {
    throw new ByrefError('bad_request', 'The body is no request of DefaultChatTransport')
  }
  const isEdit = last.role === 'user' && messageId === last.id
  const how = trigger === 'regenerate-message' ? 'again' : isEdit ? 'edit' : 'say'
  return { id, last, how, ...(typeof agent === 'string' ? { agent } : {}) }
}

function isUIMessage(value: unknown): value is UIMessage {
  if (!isPlainObject(value) || typeof value.id !== 'string') return false
  return Array.isArray(value.parts) && value.parts.every(isPlainObject)
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new ByrefError('bad_request', 'The body is no JSON', { cause })
  }
}
