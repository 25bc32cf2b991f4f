import { is, type MethodTables, type OptionTable } from '../core/check-options.ts'
import { ByrefError } from '../core/errors.ts'
import type { ConversationLog, Lease } from './conversation-log.ts'

const LEASE: OptionTable<Lease> = {
  owner: is.required(is.string),
  ms: is.required(is.number),
}

const MAX_LENGTH = 200
const MAX_PAGE = 1000
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is refused
const CONTROL = /[\u0000-\u001f\u007f-\u009f]/

/** The options of a log's methods. Which numbers and ids there may be is checked where they are read, as `bad_request`. */
export const LOG_METHODS: MethodTables<ConversationLog> = {
  list: {
    0: {
      limit: is.number,
      cursor: is.nullable(is.string),
      search: is.string,
      due: is.either(is.boolean, is.oneOf('abandoned')),
      allNamespaces: is.boolean,
    },
  },
  append: {
    2: { after: is.number, lease: is.group(LEASE), debug: is.having('an object by message id') },
  },
  renew: { 1: LEASE },
  read: { 1: is.all(is.number, 'after', 'limit') },
  import: { 1: { id: is.string } },
  subscribe: { 1: { allNamespaces: is.boolean, wants: is.callback() }, throws: true },
}

/** @throws ByrefError `bad_request` for an id that no conversation can have */
export function checkId(id: unknown): string {
  return checkName('id of a conversation', id)
}

/** Null is no namespace. @throws ByrefError `bad_request` for a name that no namespace can have */
export function checkNamespace(namespace: unknown): string | null {
  return namespace === null ? null : checkName('namespace', namespace)
}

/** @throws ByrefError `bad_request` for a title that is blank, too long or no text */
export function checkTitle(title: unknown): string | null {
  if (title === null) return null
  if (typeof title !== 'string' || title.trim() === '' || title.length > MAX_LENGTH) {
    throw new ByrefError(
      'bad_request',
      `A title has 1 to ${MAX_LENGTH} characters and is not blank; give null for the conversation's own`,
    )
  }
  return title.toWellFormed()
}

/** @throws ByrefError `bad_request` for anything but a position: a whole number from 0 */
export function checkPosition(after: unknown): number {
  if (Number.isSafeInteger(after) && (after as number) >= 0) return after as number
  throw new ByrefError('bad_request', `after must be a position, 0 or more, not ${after}`)
}

/** @throws ByrefError `bad_request` for a lease without an owner or a time */
export function checkLease({ owner, ms }: { owner: unknown; ms: unknown }): void {
  checkName('owner of a lease', owner)
  if (typeof ms === 'number' && ms >= 0 && ms <= Number.MAX_SAFE_INTEGER / 2) return
  throw new ByrefError('bad_request', `A lease is for 0 or more milliseconds, not ${ms}`)
}

/** How many a page of records has. @throws ByrefError `bad_request` for anything but a whole number from 1 */
export function checkLimit(limit: unknown): number {
  if (Number.isSafeInteger(limit) && (limit as number) > 0) return limit as number
  throw new ByrefError('bad_request', `limit must be 1 or more, not ${limit}`)
}

/** How many a page of conversations has: at most 1,000. @throws ByrefError `bad_request` */
export function checkPage(limit: unknown): number {
  return Math.min(checkLimit(limit), MAX_PAGE)
}

/** Where a conversation stands in a list: by its last change, then by its number. */
export interface ListPlace {
  updated: number
  key: number
}

/** The cursor of what comes after a place. */
export function formatCursor({ updated, key }: ListPlace): string {
  return `${updated}.${key}`
}

/** @throws ByrefError `bad_request` for what {@link formatCursor} never made */
export function parseCursor(cursor: unknown): ListPlace {
  const [, updated, key] = /^(-?\d{1,16})\.(\d{1,16})$/.exec(String(cursor)) ?? []
  if (updated !== undefined) return { updated: Number(updated), key: Number(key) }
  throw new ByrefError(
    'bad_request',
    `${JSON.stringify(cursor)} is no cursor: give \`next\` of a page`,
  )
}

function checkName(what: string, name: unknown): string {
  const isName =
    typeof name === 'string' &&
    name.length > 0 &&
    name.length <= MAX_LENGTH &&
    name.isWellFormed() &&
    !CONTROL.test(name)
  if (isName) return name
  throw new ByrefError(
    'bad_request',
    `The ${what} must be 1 to ${MAX_LENGTH} characters of Unicode without control characters`,
  )
}
