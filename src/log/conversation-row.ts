import type { Damage } from '../core/errors.ts'
import { isPlainObject } from '../core/json/json.ts'
import { formatCursor, type ListPlace } from './check-arguments.ts'
import type { ConversationSummary } from './conversation-log.ts'
import type { StoredRun } from './runs.ts'
import { branchIn, type ConversationState, type StoredLease, summaryOf } from './summary.ts'

/** The namespace and id of a conversation. The namespace '' means none. */
export interface Place {
  namespace: string
  id: string
}

/** A row of the table of conversations in a database. */
export interface ConversationRow extends Place {
  key: number
  name: string | null
  created: number
  updated: number
  position: number
  title: string | null
  messages: number
  open_run: string | null
  queued: string | null
  approvals: string | null
  failed: boolean | number
  agent: string | null
  root: string | null
  branch: string | null
  run: string | null
  lease_owner: string | null
  lease_until: number | null
  imported: number
  damage: string | null
}

/** Returns the columns title, messages, open_run, queued, approvals, failed, agent, root, branch and run, in this order. */
export function stateColumns(state: ConversationState): (string | number | null)[] {
  const { title, messages, openRun, queued, approvals, failed, agent, branch, run } = state
  return [
    title,
    messages,
    openRun,
    listText(queued),
    listText(approvals),
    failed ? 1 : 0,
    agent,
    branch?.root ?? null,
    branch && JSON.stringify({ from: branch.from, at: branch.at }),
    run && JSON.stringify(run),
  ]
}

/** Decodes the columns of {@link stateColumns}. */
export function stateOf(row: ConversationRow): ConversationState {
  const run = jsonIn(row.run)
  return {
    title: row.title,
    messages: row.messages,
    openRun: row.open_run,
    queued: idsIn(row.queued),
    approvals: idsIn(row.approvals),
    failed: Boolean(row.failed),
    agent: row.agent,
    branch: branchIn({ ...Object(jsonIn(row.branch)), root: row.root }),
    run: isPlainObject(run) && typeof run.run === 'string' ? (run as object as StoredRun) : null,
  }
}

/** Returns the owner of the lease, and until when. */
export function leaseOf(row: ConversationRow): StoredLease | null {
  return row.lease_owner === null ? null : { owner: row.lease_owner, until: row.lease_until ?? 0 }
}

/** Returns the summary that a row holds, at a time in milliseconds since 1970. */
export function summaryOfRow(row: ConversationRow, now: number): ConversationSummary {
  const { id, name, created, updated, position } = row
  const namespace = row.namespace || null
  const damage = row.damage === null ? null : damageIn(row.damage)
  const stored = { id, namespace, name, created, updated, position, damage }
  return summaryOf({ ...stored, state: stateOf(row), lease: leaseOf(row) }, now)
}

/** Returns a page of at most `limit` items. One more row was read, to see whether another page follows. */
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

/** Returns a key for maps. */
export function placeKey({ namespace, id }: Place): string {
  return `${namespace}\0${id}`
}

function listText(ids: readonly string[]): string | null {
  return ids.length > 0 ? JSON.stringify(ids) : null
}

function idsIn(stored: string | null): string[] {
  const ids = jsonIn(stored)
  return Array.isArray(ids) && ids.every((id) => typeof id === 'string') ? ids : []
}

function damageIn(stored: string): Damage {
  const { position, reason } = Object(jsonIn(stored))
  return { position: Number(position) || 0, reason: String(reason) }
}

/** Returns the JSON in a column. Null for none, and for damaged text, so that one row does not break a list. */
export function jsonIn(stored: string | null): unknown {
  try {
    return stored === null ? null : JSON.parse(stored)
  } catch {
    return null
  }
}
