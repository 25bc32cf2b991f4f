import { ByrefError } from '../errors.ts'
import type { DataBlock, Message, Participant } from './message.ts'
import { type MessageInput, toMessage } from './to-message.ts'

/** Somebody who sends messages from outside this process. */
export interface Speaker {
  /** Who it is, where the server knows that. */
  sender?: Participant
  /** Whether they may speak as the system, as the assistant and as other people, at any time. */
  speaksAsOthers: boolean
}

/** The other types of messages tell what the system and plugins did. */
const TYPES_OF_PEOPLE: readonly string[] = ['chat', 'note', 'command']

/**
 * The message that somebody sends, in any form that `toMessage` takes. Who sends it and when are the server's to say: a message that claims to be somebody
 * else's, or from another time, is refused, unless the speaker may speak as others. Every door to the network uses this.
 *
 * @throws ByrefError `forbidden`, `invalid_message`
 */
export function spokenBy(input: object, { sender, speaksAsOthers }: Speaker): Message {
  const given: Record<string, unknown> = { ...input }
  const message = toMessage(input as MessageInput)
  if (speaksAsOthers) {
    const isSomeone = ['sender', 'name', 'role'].some((key) => given[key] !== undefined)
    return isSomeone || !sender ? message : { ...message, sender }
  }
  const { content_type, content, message_type } = message
  const own = content_type === 'data' ? (content as DataBlock) : {}
  const forged = [
    ...['sender', 'name', 'timestamp'].filter((key) => given[key] !== undefined),
    ...['_call', '_date'].filter((key) => key in own),
    ...(message.sender.participant_role === 'user' ? [] : ['role']),
    ...(TYPES_OF_PEOPLE.includes(message_type) ? [] : ['message_type']),
  ]
  const [first] = forged
  if (first === undefined) {
    const timestamp = new Date().toISOString()
    return { ...message, timestamp, sender: sender ?? message.sender }
  }
  throw new ByrefError(
    'forbidden',
    `A message of your own cannot set ${first}: the server does. Leave it out, or have the server let you speak as others (speakAs).`,
  )
}
