import { didYouMean } from '../check-options.ts'
import { ByrefError } from '../errors.ts'

const KEYS = [
  'attachments',
  'content',
  'content_type',
  'message_type',
  'metadata',
  'receiver',
  'sender',
  'timestamp',
]

/** Frequent keys that resemble none of these. */
const OTHERS: ReadonlySet<string> = new Set(['id', 'role', 'name', 'type', 'kind', 'data'])

/** Keys that other libraries have in place of `content`. */
const CONTENT_ELSEWHERE = ['parts', 'text']

/** Roles of other libraries, with the names that models know. */
const ROLES: Readonly<Record<string, string>> = {
  ai: 'assistant',
  model: 'assistant',
  developer: 'system',
}

/**
 * Rejects a misspelt key of a message, because its value would be lost for the model. Other unknown keys are kept. Also
 * rejects roles of other libraries, because the model would take the message for one of the user.
 *
 * @throws ByrefError `invalid_message`
 */
export function checkKeys(input: unknown): void {
  const written: object = Object(input)
  const { role, sender } = Object(input)
  const stated = String(role ?? Object(sender).role ?? Object(sender).participant_role)
  if (Object.hasOwn(ROLES, stated)) {
    const message = `A message has the role "${stated}": write "${ROLES[stated]}" instead.`
    throw new ByrefError('invalid_message', message)
  }
  const typed = 'type' in written ? { ...written, content: null } : written
  const absent = KEYS.filter((name) => !Object.hasOwn(typed, name))
  for (const key of Object.keys(typed)) {
    if (KEYS.includes(key) || OTHERS.has(key)) continue
    const isContent = absent.includes('content') && CONTENT_ELSEWHERE.includes(key)
    const hint = didYouMean(isContent ? 'content' : key, absent)
    if (hint) throw new ByrefError('invalid_message', `Unknown key "${key}" in a message.${hint}`)
  }
}
