import { ByrefError } from '../../core/errors.ts'
import type { AssetRecord, StoreListOptions } from '../asset-store.ts'

/** The position of a record in a listing. */
export type RecordPlace = Pick<AssetRecord, 'createdAt' | 'assetId'>

const MAX_PAGE = 1000

/** Newest first: by time, then by id, descending. */
export function newestFirst(a: RecordPlace, b: RecordPlace): number {
  if (a.createdAt !== b.createdAt) return a.createdAt < b.createdAt ? 1 : -1
  if (a.assetId === b.assetId) return 0
  return a.assetId < b.assetId ? 1 : -1
}

/**
 * Returns the size of a page: 200 by default, at most 1,000.
 *
 * @throws ByrefError `bad_request` for anything but a whole number from 1
 */
export function pageSize({ limit = 200 }: StoreListOptions): number {
  const size = Math.min(limit, MAX_PAGE)
  if (Number.isInteger(size) && size > 0) return size
  throw new ByrefError('bad_request', `Invalid page size ${limit}: use 1 to ${MAX_PAGE}.`)
}

/** One page of records that are in memory, copied, and the cursor of the next. */
export function recordPage(
  records: Iterable<AssetRecord>,
  options: StoreListOptions = {},
): { records: AssetRecord[]; next: string | null } {
  const limit = pageSize(options)
  const after = options.cursor ? parseCursor(options.cursor) : null
  const sorted = [...records].sort(newestFirst)
  const rest = after ? sorted.filter((record) => newestFirst(after, record) < 0) : sorted
  const page = rest.slice(0, limit)
  const last = page.at(-1)
  return {
    records: structuredClone(page),
    next: last && rest.length > limit ? formatCursor(last) : null,
  }
}

/** Returns the cursor of the page after a place. */
export function formatCursor({ createdAt, assetId }: RecordPlace): string {
  return `${createdAt} ${assetId}`
}

/** @throws ByrefError `bad_request` for what {@link formatCursor} did not make */
export function parseCursor(cursor: string): RecordPlace {
  const space = cursor.indexOf(' ')
  if (space < 1)
    throw new ByrefError(
      'bad_request',
      `Invalid cursor ${JSON.stringify(cursor)}: use the "next" of the previous page.`,
    )
  return { createdAt: cursor.slice(0, space), assetId: cursor.slice(space + 1) }
}
