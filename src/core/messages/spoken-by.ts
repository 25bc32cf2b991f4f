import { ByrefError } from '../errors.ts'
import { checkKeys } from './check-keys.ts'
import type { DataBlock, Message, Participant } from './message.ts'
import { type MessageInput, toMessage } from './to-message.ts'

/** Someone who sends messages from outside this process. */
export interface Speaker {
  /** The sender, if the server knows it. */
  sender?: Participant
  /** Whether they may set the sender and the time of messages: as the system, the assistant or other people. */
  speaksAsOthers: boolean
}

/** The message types that people may send. The others are written by the system and by plugins. */
const TYPES_OF_PEOPLE: readonly string[] = ['chat', 'note', 'command']

/**
 * Converts a message from outside, in any form that `toMessage` accepts. The server sets the sender and the
 * time. A message that sets them itself is rejected, unless the speaker may speak as others. All network
 * endpoints use this.
 *
 * @throws ByrefError `forbidden`, `invalid_message`
 */
export function spokenBy(input: object, { sender, speaksAsOthers }: Speaker): Message {
  const fields: Record<string, unknown> = { ...input }
  checkKeys(input)
  const message = toMessage(input as MessageInput)
  if (speaksAsOthers) {
    const isSomeone = ['sender', 'name', 'role'].some((key) => fields[key] !== undefined)
    return isSomeone || !sender ? message : { ...message, sender }
  }
  const { content_type, content, message_type } = message
  const data = content_type === 'data' ? (content as DataBlock) : {}
  const forged = [
    ...['sender', 'name', 'timestamp'].filter((key) => fields[key] !== undefined),
    ...['_call', '_date'].filter((key) => key in data),
    ...(message.sender.participant_role === 'user' ? [] : ['role']),
    ...['tool_calls', 'tool_result'].filter((key) => key in message.metadata),
    ...(TYPES_OF_PEOPLE.includes(message_type) ? [] : ['message_type']),
  ]
  const [first] = forged
  if (first === undefined) {
    const timestamp = new Date().toISOString()
    return { ...message, timestamp, sender: sender ?? message.sender }
  }
  throw new ByrefError(
    'forbidden',
    `A message cannot set ${first}, because the server sets it. Leave it out, or configure speakAs in the server to let you speak as others.`,
  )
}
