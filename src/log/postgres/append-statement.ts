import type { ConversationEvent } from '../../core/events/events.ts'
import type { Query } from '../../postgres/database.ts'
import { eventSum, seal } from '../checksums.ts'
import type { Lease } from '../conversation-log.ts'
import { stateColumns } from '../conversation-row.ts'
import type { AppendInput, TextAppendInput } from '../log-storage.ts'
import { isOwnKey, keyOf, toPlain } from '../plain-text.ts'
import { chatText, foldCase, messageIn, type stateAfter } from '../summary.ts'
import { NOW } from './conversation-rows.ts'
import { insertRuns, runsJson } from './postgres-runs.ts'

/**
 * Appends after a position, unless the conversation has moved on or another owner's lease is valid. It is one
 * statement, all or nothing, so that no lock is held over the network.
 */
const appendStatement = (more = '') => `
  WITH clock AS MATERIALIZED (SELECT ${NOW} AS now),
  changed AS (
    UPDATE byref.conversations c SET updated = clock.now, position = c.position + $3::integer,
      state = $4, due = $5, root = $6,
      lease_owner = CASE WHEN $7::text IS NULL THEN c.lease_owner WHEN $8::bigint > 0 THEN $7::text END,
      lease_until = CASE WHEN $7::text IS NULL THEN c.lease_until WHEN $8::bigint > 0 THEN clock.now + $8::bigint END
    FROM clock
    WHERE c.key = $1 AND c.position = $2::integer
      AND ($7::text IS NULL OR c.lease_owner IS NULL OR c.lease_owner = $7::text OR c.lease_until <= clock.now)
    RETURNING c.key, c.namespace, clock.now
  ), added AS (
    INSERT INTO byref.records (conversation, position, at, event, sum, message, words)
    SELECT changed.key, $2::integer + e.n, changed.now, e.event, e.sum + changed.now, e.message, e.words
    FROM changed, unnest($9::text[], $15::bigint[], $10::text[], $11::text[]) WITH ORDINALITY AS e (event, sum, message, words, n)
  ), noted AS (
    INSERT INTO byref.debug (conversation, message, name, value)
    SELECT changed.key, d.message, d.name, d.value
    FROM changed, unnest($12::text[], $13::text[], $14::text[]) AS d (message, name, value)
    ON CONFLICT (conversation, message) DO UPDATE SET value = excluded.value
  )${more} SELECT now FROM changed`

const APPEND = appendStatement()
const APPEND_WITH_RUNS = appendStatement(`, ran AS (
    ${insertRuns('changed', '$16')}
  )`)

/**
 * Appends one or more events. Returns the time; null if the conversation has moved on or another owner has the lease.
 */
export async function appendAfter(
  query: Query,
  { key, position }: { key: number; position: number },
  { events, texts, debug, lease, state, runs }: TextAppendInput & ReturnType<typeof stateAfter>,
): Promise<number | null> {
  const isRun = runs.length > 0
  const { rows } = await query<{ now: number }>(isRun ? APPEND_WITH_RUNS : APPEND, [
    key,
    position,
    events.length,
    ...stateColumns(state),
    ...leaseValues(lease),
    texts,
    events.map(messageKey),
    events.map(wordsOf),
    ...debugColumns(debug),
    texts.map((text, i) => eventSum(position + i + 1, text)),
    ...(isRun ? [runsJson(runs)] : []),
  ])
  return rows[0]?.now ?? null
}

const TOUCH = `
  WITH changed AS (
    UPDATE byref.conversations c SET
      lease_owner = CASE WHEN $2::text IS NULL THEN c.lease_owner WHEN $3::bigint > 0 THEN $2::text END,
      lease_until = CASE WHEN $2::text IS NULL THEN c.lease_until WHEN $3::bigint > 0 THEN ${NOW} + $3::bigint END
    WHERE c.key = $1 RETURNING c.key
  ) INSERT INTO byref.debug (conversation, message, name, value)
    SELECT changed.key, d.message, d.name, d.value
    FROM changed, unnest($4::text[], $5::text[], $6::text[]) AS d (message, name, value)
    ON CONFLICT (conversation, message) DO UPDATE SET value = excluded.value`

/** Stores the lease and debug data of an append without events, in a transaction that holds the row. */
export async function storeLeaseAndDebug(
  query: Query,
  key: number,
  { lease, debug }: Pick<AppendInput, 'lease' | 'debug'>,
): Promise<void> {
  if (!lease && debug.length === 0) return
  await query(TOUCH, [key, ...leaseValues(lease), ...debugColumns(debug)])
}

/** Returns the key of an event's message, or null. */
export function messageKey(event: ConversationEvent): string | null {
  const id = messageIn(event)
  return id === null ? null : keyOf(id)
}

/** Returns the text of an event that a search looks at, or null. */
export function wordsOf(event: ConversationEvent): string | null {
  const text = chatText(event)
  return text ? foldCase(text) : null
}

/** Returns the columns message, name and value of debug data, as lists. */
export function debugColumns(debug: readonly (readonly [string, string])[]): (string | null)[][] {
  const keys = debug.map(([message]) => keyOf(message))
  // The key of a long or unusual id is a hash.
  const names = debug.map(([message], i) => (isOwnKey(keys[i] ?? '') ? null : toPlain(message)))
  return [keys, names, debug.map(([, value]) => seal(value))]
}

function leaseValues(lease: Lease | undefined): [string | null, number] {
  return [lease?.owner ?? null, Math.ceil(lease?.ms ?? 0)]
}
