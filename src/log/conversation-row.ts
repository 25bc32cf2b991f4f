import type { Damage } from '../core/errors.ts'
import { seal, unseal } from './checksums.ts'
import type { ConversationSummary } from './conversation-log.ts'
import { fromPlain, toPlain } from './plain-text.ts'
import {
  isDue,
  NEW_CONVERSATION,
  type StoredLease,
  type SummaryState,
  summaryOf,
} from './summary.ts'

/** The namespace and id of a conversation. The namespace '' means none. */
export interface Place {
  namespace: string
  id: string
}

/** A row of the table of conversations in a database. */
export interface ConversationRow extends Place {
  key: number
  /** Encoded by `toPlain`. */
  name: string | null
  created: number
  updated: number
  position: number
  state: string | null
  lease_owner: string | null
  lease_until: number | null
  imported: number
  damage: string | null
}

/** Returns the columns state (JSON with its checksum), due and root, in this order. */
export function stateColumns(state: SummaryState): [string, number, string | null] {
  const { branch } = state
  return [seal(JSON.stringify(state)), isDue(state) ? 1 : 0, branch && toPlain(branch.root)]
}

/**
 * Decodes the column `state`. Returns the state of a new conversation for damaged text, so that one row does not break
 * a list.
 */
export function stateOf({ state }: Pick<ConversationRow, 'state'>): SummaryState {
  const json = state && unseal(state)
  return json ? JSON.parse(json) : NEW_CONVERSATION
}

/** Returns the title that the conversation was given, or null. */
export function nameOf({ name }: Pick<ConversationRow, 'name'>): string | null {
  return name === null ? null : fromPlain(String(name))
}

/**
 * Returns the title that the conversation was given, or else the one from its first message. Null if there is neither.
 */
export function titleOfRow(row: Pick<ConversationRow, 'name' | 'state'>): string | null {
  return nameOf(row) ?? stateOf(row).title
}

/** Returns the owner of the lease and its end. */
export function leaseOf(row: ConversationRow): StoredLease | null {
  return row.lease_owner === null ? null : { owner: row.lease_owner, until: row.lease_until ?? 0 }
}

/** Returns the summary of a row as of `now`, in milliseconds since 1970. */
export function summaryOfRow(row: ConversationRow, now: number): ConversationSummary {
  const { id, created, updated, position } = row
  const namespace = row.namespace || null
  const damage = row.damage === null ? null : damageIn(row.damage)
  const stored = { id, namespace, name: nameOf(row), created, updated, position, damage }
  return summaryOf({ ...stored, state: stateOf(row), lease: leaseOf(row) }, now)
}

function damageIn(stored: string): Damage {
  const { position, reason } = Object(jsonIn(stored))
  return { position: Number(position) || 0, reason: String(reason) }
}

/** Returns the JSON in a column. Null if it is empty, and for damaged text, so that one row does not break a list. */
export function jsonIn(stored: string | null): unknown {
  try {
    return stored === null ? null : JSON.parse(stored)
  } catch {
    return null
  }
}
