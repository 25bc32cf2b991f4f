import { ByrefError } from '../../core/errors.ts'
import { eventSum, seal } from '../checksums.ts'
import { existsError } from '../conversation-log.ts'
import { type Place, stateColumns } from '../conversation-row.ts'
import { toPlain } from '../plain-text.ts'
import { type ImportedLine, importStaged, type Lines, type Staged } from '../read-lines.ts'
import { messageIn } from '../summary.ts'
import {
  addNotice,
  createRow,
  deleteConversation,
  deleteMessages,
  findRow,
  indexTitle,
  putRuns,
  removeLeftovers,
  removeRecords,
} from './sqlite-rows.ts'
import type { LogConnection, Statements } from './statements.ts'

/**
 * Imports in pieces, so that others can write in between. The records are stored under a key without a conversation, so
 * that they are not visible. One last transaction creates the conversation. Then `published` is called with its place.
 */
export async function sqliteImport(
  connection: LogConnection,
  lines: Lines,
  options: {
    placeOf(id: string): Place
    /** Whether it replaces the conversation at that place. */
    replaces?: boolean
    published(place: Place): void
  },
): Promise<string> {
  const { placeOf, replaces = false, published } = options
  const { write } = connection
  await removeLeftovers(connection)
  const key = await write(newKey)
  const { place, replaced } = await importStaged(lines, {
    key,
    store: (piece) => write((sql) => storeLines(sql, key, piece)),
    deleteMessages: (ids) => write((sql) => deleteMessages(sql, key, ids)),
    async publish(staged) {
      const place = placeOf(staged.header.id)
      const replaced = await write(
        (sql) => publish(sql, place, { ...staged, replaces }),
        () => published(place),
      )
      return { place, replaced }
    },
    discard: () => removeRecords(connection, key),
  })
  if (replaced?.more) await removeRecords(connection, replaced.key)
  return place.id
}

/** Returns a key that no conversation has or will have. */
function newKey(sql: Statements): number {
  const now = Date.now()
  const { key } = createRow(sql, { namespace: '\0import', id: crypto.randomUUID() }, now)
  sql.deleteConversation.run(key)
  sql.putLeftover.run(key, now)
  return key
}

function storeLines(sql: Statements, key: number, lines: readonly ImportedLine[]): void {
  if (Number(sql.touchLeftover.run(Date.now(), key).changes) === 0) {
    throw new ByrefError('log_failed', 'The import paused for too long: start it again')
  }
  for (const line of lines) {
    if (line.type === 'record') {
      const { position, at, json, event } = line
      const sum = eventSum(position, json) + at
      sql.insert.run(key, position, at, json, sum, messageIn(event))
    } else if (line.type === 'debug') {
      sql.putDebug.run(key, line.message, seal(line.json))
    }
  }
}

/** Creates a conversation from the staged records. Returns the one that it replaces. */
function publish(
  sql: Statements,
  place: Place,
  { replaces, ...staged }: Staged & { replaces: boolean },
): ReturnType<typeof deleteConversation> {
  const { key, header, position, state, runs } = staged
  const replaced = replaces ? deleteConversation(sql, place) : null
  if (findRow(sql, place)) throw existsError(place.id)
  const { created, updated, title } = header
  const imported = Number(sql.lastRecord.get()?.seq ?? 0)
  const { namespace, id } = place
  const columns = stateColumns(state)
  sql.dropLeftover.run(key)
  const name = title && toPlain(title)
  sql.publish.run(key, namespace, id, name, created, updated, position, ...columns, imported)
  indexTitle(sql, key, title ?? state.title)
  putRuns(sql, { key, namespace }, runs)
  addNotice(sql, place, { deleted: false })
  return replaced
}
