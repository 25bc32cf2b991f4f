import { leaseAfter } from '../admit.ts'
import type { Lease } from '../conversation-log.ts'
import { giveNotice } from './notices.ts'
import { removeSome } from './remove-records.ts'
import { findRow, indexTitle, leaseOf, type Place } from './sqlite-append.ts'
import type { Statements } from './statements.ts'

/** Lengthens or ends a lease, within a transaction; false where it is another's. */
export function renewLease(sql: Statements, place: Place, lease: Lease): boolean {
  const row = findRow(sql, place)
  if (row?.lease_owner !== lease.owner) return false
  const renewed = leaseAfter(leaseOf(row), lease, Date.now())
  sql.lease.run(renewed?.owner ?? null, renewed?.until ?? null, row.key)
  return true
}

/** Gives a conversation a title, or its own for null, within a transaction; false where there is none. */
export function giveName(sql: Statements, place: Place, name: string | null): boolean {
  const row = findRow(sql, place)
  if (!row) return false
  sql.name.run(name, row.key)
  indexTitle(sql, row.key, name ?? row.title)
  giveNotice(sql, place, { deleted: false })
  return true
}

/** Ends a conversation within a transaction. Gives its key and whether there are records left; null where there is none. */
export function forget(sql: Statements, place: Place): { key: number; more: boolean } | null {
  const row = findRow(sql, place)
  if (!row) return null
  const { key } = row
  sql.forget.run(key)
  indexTitle(sql, key, null)
  giveNotice(sql, place, { deleted: true })
  sql.putLeftover.run(key, 0)
  return { key, more: removeSome(sql, key) }
}
