import type { UIMessage } from 'ai'
import { ByrefError } from '../../../core/errors.ts'
import { isPlainObject } from '../../../core/json/json.ts'

/** A request of `DefaultChatTransport`: the chat's id and all messages that the browser has. */
export interface ChatRequest {
  id: string
  /** The last message: a new one, or one with answers to calls. */
  last: UIMessage
  /**
   * How to treat the message: send it (`say`), send the one with its id once more (`again`), or replace the one with
   * its id (`edit`).
   */
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
  // Forms on other sites cannot send this content type, so this prevents cross-site requests.
  if (!/^application\/json\b/i.test(request.headers.get('content-type') ?? '')) {
    throw new ByrefError('bad_request', 'The content type of the request must be application/json')
  }
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of request.body ?? []) {
    size += chunk.byteLength
    if (size > maxBytes) {
      const message = `The request is too large: a message and its files may have at most ${maxBytes} bytes`
      throw new ByrefError('body_too_large', message)
    }
    chunks.push(chunk)
  }
  const { id, messages, trigger, messageId, agent } = Object(
    parsed(Buffer.concat(chunks).toString()),
  )
  const last: unknown = Array.isArray(messages) ? messages.at(-1) : null
  if (typeof id !== 'string' || !isUIMessage(last)) {
    throw new ByrefError('bad_request', 'The body is not a request of DefaultChatTransport')
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
    throw new ByrefError('bad_request', 'The body is not valid JSON', { cause })
  }
}
