import { is, type MethodTables, type OptionTable } from '../core/check-options.ts'
import { ByrefError } from '../core/errors.ts'
import type { ConversationLog, Lease } from './conversation-log.ts'
import type { CostsOptions, RunFilter, RunsOptions } from './runs.ts'

const LEASE: OptionTable<Lease> = {
  owner: is.required(is.string),
  ms: is.required(is.number),
}

const RUN_FILTER: OptionTable<RunFilter> = {
  ...is.all(is.string, 'agent', 'model', 'tool', 'conversation', 'since', 'until'),
  status: is.oneOf('running', 'waiting', 'finished', 'failed', 'cancelled'),
  error: is.either(is.boolean, is.string),
  ...is.all(is.notNegative, 'minCost', 'minTokens', 'minDurationMs'),
}

export const RUNS_OPTIONS: OptionTable<RunsOptions> = {
  ...RUN_FILTER,
  limit: is.number,
  cursor: is.nullable(is.string),
}

export const COSTS_OPTIONS: OptionTable<CostsOptions> = {
  ...RUN_FILTER,
  by: is.oneOf('hour', 'day', 'month'),
  timeZone: is.string,
  group: is.oneOf('model', 'agent'),
}

const MAX_LENGTH = 200
const MAX_PAGE = 1000
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are rejected
const CONTROL = /[\u0000-\u001f\u007f-\u009f]/

/** The options of a log's methods. Values of numbers and ids are checked by the functions below, with `bad_request`. */
export const LOG_METHODS: MethodTables<ConversationLog> = {
  list: {
    0: {
      limit: is.number,
      cursor: is.nullable(is.string),
      ...is.all(is.string, 'search', 'branchesOf'),
      due: is.either(is.boolean, is.oneOf('abandoned')),
      allNamespaces: is.boolean,
    },
  },
  runs: { 0: RUNS_OPTIONS },
  costs: { 0: COSTS_OPTIONS },
  append: {
    2: { after: is.number, lease: is.group(LEASE), debug: is.having('an object by message id') },
  },
  renew: { 1: LEASE },
  read: { 1: is.all(is.number, 'after', 'limit') },
  import: { 1: { id: is.string } },
  subscribe: { 1: { allNamespaces: is.boolean, wants: is.callback() }, throws: true },
}

/** @throws ByrefError `bad_request` for an invalid id of a conversation */
export function checkId(id: unknown): string {
  return checkName('id of a conversation', id)
}

/** Returns the id, or '' if no conversation can have it, because databases would change or reject its characters. */
export function possibleId(id: string): string {
  return isName(id) ? id : ''
}

/** Null means no namespace. @throws ByrefError `bad_request` for an invalid name */
export function checkNamespace(namespace: unknown): string | null {
  return namespace === null ? null : checkName('namespace', namespace)
}

/** @throws ByrefError `bad_request` for a title that is blank, too long or not text */
export function checkTitle(title: unknown): string | null {
  if (title === null) return null
  if (typeof title !== 'string' || title.trim() === '' || title.length > MAX_LENGTH) {
    throw new ByrefError(
      'bad_request',
      `A title must have 1 to ${MAX_LENGTH} characters and must not be blank; null restores the conversation's own title`,
    )
  }
  return title.toWellFormed()
}

/** @throws ByrefError `bad_request` for anything but a position: a whole number from 0 */
export function checkPosition(after: unknown): number {
  if (Number.isSafeInteger(after) && (after as number) >= 0) return after as number
  throw new ByrefError(
    'bad_request',
    `after must be a position: a whole number from 0, not ${after}`,
  )
}

/** @throws ByrefError `bad_request` for a lease without an owner or a time */
export function checkLease({ owner, ms }: { owner: unknown; ms: unknown }): void {
  checkName('owner of a lease', owner)
  if (typeof ms === 'number' && ms >= 0 && ms <= Number.MAX_SAFE_INTEGER / 2) return
  throw new ByrefError(
    'bad_request',
    `The time of a lease must be 0 or more milliseconds, not ${ms}`,
  )
}

/** Returns the size of a page of records. @throws ByrefError `bad_request` for anything but a whole number from 1 */
export function checkLimit(limit: unknown): number {
  if (Number.isSafeInteger(limit) && (limit as number) > 0) return limit as number
  throw new ByrefError('bad_request', `limit must be a whole number from 1, not ${limit}`)
}

/** Returns the size of a page of conversations, at most 1,000. @throws ByrefError `bad_request` */
export function checkPage(limit: unknown): number {
  return Math.min(checkLimit(limit), MAX_PAGE)
}

/** The position of a conversation in a list: by its last change, then by its number. */
export interface ListPlace {
  updated: number
  key: number
}

/** Returns a page of at most `limit` items. `rows` has one more if another page follows. */
export function pageOf<Row extends ListPlace, Item>(
  rows: readonly Row[],
  limit: number,
  itemOf: (row: Row) => Item,
): { items: Item[]; next: string | null } {
  const page = rows.slice(0, limit)
  const last = page.at(-1)
  return {
    items: page.map(itemOf),
    next: last && rows.length > limit ? formatCursor(last) : null,
  }
}

/** Returns the cursor of the page after a place. */
function formatCursor({ updated, key }: ListPlace): string {
  return `${updated}.${key}`
}

/** @throws ByrefError `bad_request` for anything but a cursor of {@link formatCursor} */
export function parseCursor(cursor: unknown): ListPlace {
  const [, updated, key] = /^(-?\d{1,16})\.(\d{1,16})$/.exec(String(cursor)) ?? []
  if (updated !== undefined) return { updated: Number(updated), key: Number(key) }
  throw new ByrefError(
    'bad_request',
    `The cursor ${JSON.stringify(cursor)} is invalid: use \`next\` of a page`,
  )
}

function checkName(what: string, name: unknown): string {
  if (isName(name)) return name
  throw new ByrefError(
    'bad_request',
    `The ${what} must have 1 to ${MAX_LENGTH} characters of valid Unicode, without control characters`,
  )
}

function isName(name: unknown): name is string {
  return (
    typeof name === 'string' &&
    name.length > 0 &&
    name.length <= MAX_LENGTH &&
    name.isWellFormed() &&
    !CONTROL.test(name)
  )
}
