import type { z } from 'zod'
import type { TableRows } from '../../assets/tables/table-rows.ts'
import { ByrefError } from '../../core/errors.ts'
import type { condition, rowsPage } from '../../wire/assets.ts'

type Condition = z.infer<typeof condition>
type Row = Record<string, unknown>

/** Selects rows of a table, and columns. */
export interface PageOptions {
  offset: number
  limit: number
  columns?: readonly string[]
  /** The name of a column; with `-` before it, the largest value comes first. */
  sort?: string
  where: readonly Condition[]
}

/** Maximum number of characters of JSON in one page. */
const PAGE_CHARACTERS = 4_000_000

/** A sorted page ends before this row, because all rows before it are held in memory while the table is read. */
const MAX_SORTED = 100_000

/**
 * Returns a page of rows. Conditions and sorting read the columns that they name of the whole table first, and then the
 * rows of the page. Without them only the rows of the page are read.
 *
 * @throws ByrefError `invalid_arguments` for an unknown column, and for a sorted page after the first 100,000 rows
 */
export async function tablePage(
  rows: TableRows,
  options: PageOptions,
): Promise<z.infer<typeof rowsPage>> {
  const { offset, columns } = options
  const selected = rows.select({ columns })
  const { places, total } = await findPlaces(rows, options)
  const found = await rowsAt(selected, places)
  const next = offset + found.length
  return {
    columns: selected.columns.map(({ name, type }) => ({ name, type: String(type) })),
    rows: found,
    offset,
    next: found.length === 0 || next >= total ? null : next,
    total,
  }
}

/** Returns the positions of the page's rows in the table, in the order of the page, and how many rows match in all. */
async function findPlaces(
  rows: TableRows,
  { sort, where, offset, limit }: PageOptions,
): Promise<{ places: number[]; total: number }> {
  const key = sort?.replace(/^-/, '')
  const names = new Set([...where.map(({ column }) => column), ...(key === undefined ? [] : [key])])
  if (names.size === 0) {
    const count = Math.max(0, Math.min(limit, rows.count - offset))
    return { places: Array.from({ length: count }, (_, i) => offset + i), total: rows.count }
  }
  const end = offset + limit
  if (key !== undefined && end > MAX_SORTED) {
    throw new ByrefError(
      'invalid_arguments',
      `Sorted pages end at row ${MAX_SORTED}: add conditions, or use SQL`,
    )
  }
  const direction = sort?.startsWith('-') ? -1 : 1
  const order = (a: Match, b: Match) =>
    compareNullsLast(a.cell, b.cell, direction) || a.place - b.place
  let matches: Match[] = []
  let total = 0
  let place = 0
  for await (const row of rows.select({ columns: [...names] })) {
    if (where.every((one) => holds(row[one.column], one))) {
      if (key !== undefined) matches.push({ cell: row[key], place })
      else if (total >= offset && total < end) matches.push({ cell: null, place })
      if (matches.length >= 2 * end + 1000) matches = matches.sort(order).slice(0, end)
      total++
    }
    place++
  }
  const page = key === undefined ? matches : matches.sort(order).slice(offset, end)
  return { places: page.map((match) => match.place), total }
}

interface Match {
  /** The value to sort by. */
  cell: unknown
  place: number
}

function compareNullsLast(a: unknown, b: unknown, direction: number): number {
  const [isNullA, isNullB] = [(a ?? null) === null, (b ?? null) === null]
  if (isNullA || isNullB) return Number(isNullA) - Number(isNullB)
  return direction * compare(a, b)
}

/** Compares numbers by value, and everything else as text. */
function compare(a: unknown, b: unknown): number {
  const [x, y] = isNumber(a) && isNumber(b) ? [a, b] : [textOf(a), textOf(b)]
  return x < y ? -1 : x > y ? 1 : 0
}

function isNumber(cell: unknown): cell is number | bigint {
  return typeof cell === 'number' || typeof cell === 'bigint'
}

function textOf(cell: unknown): string {
  return typeof cell === 'object' ? JSON.stringify(cell) : String(cell)
}

function holds(cell: unknown, { is, to }: Condition): boolean {
  const isMissing = (cell ?? null) === null
  if (is === 'missing') return isMissing
  if (is === 'not_equal') return isMissing || compareTyped(cell, to) !== 0
  if (isMissing || to === undefined || to === null) return false
  if (is === 'contains') return textOf(cell).toLowerCase().includes(String(to).toLowerCase())
  return HOLDS[is](compareTyped(cell, to))
}

/** Whether a cell matches, by its difference from what a person typed. */
const HOLDS = {
  equal: (difference: number) => difference === 0,
  less: (difference: number) => difference < 0,
  at_most: (difference: number) => difference <= 0,
  more: (difference: number) => difference > 0,
  at_least: (difference: number) => difference >= 0,
}

/** Compares a cell with what a person typed: text that looks like a number is one, where the cell is a number. */
function compareTyped(cell: unknown, to: Condition['to']): number {
  if (!isNumber(cell) || typeof to !== 'string' || to.trim() === '') return compare(cell, to)
  if (/^[+-]?\d+$/.test(to.trim())) return compare(cell, BigInt(to))
  return compare(cell, Number.isFinite(Number(to)) ? Number(to) : to)
}

/** Maximum gap between rows that are read together. Rows in the gap are dropped, because a second read takes longer. */
const GAP = 2000

/** Returns the rows at these places, in this order: as many as fit into one answer, and at least one. */
async function rowsAt(rows: TableRows, places: readonly number[]): Promise<Row[]> {
  const found = new Map<number, Row>()
  let characters = 0
  for (const { start, end, wanted } of spansOf(places)) {
    let place = start
    for await (const row of rows.select({ start, end })) {
      if (wanted.has(place)) {
        found.set(place, jsonRow(row))
        characters += JSON.stringify(found.get(place)).length
      }
      place++
      if (characters > PAGE_CHARACTERS) break
    }
    if (characters > PAGE_CHARACTERS) break
  }
  const [first] = places
  if (first !== undefined && !found.has(first)) return rowsAt(rows, [first])
  const page: Row[] = []
  for (const place of places) {
    const row = found.get(place)
    // The next page begins with the first row that did not fit.
    if (!row) break
    page.push(row)
  }
  return page
}

/** Joins places that are close together into spans, which are read at once. */
function spansOf(places: readonly number[]) {
  const spans: { start: number; end: number; wanted: Set<number> }[] = []
  for (const place of places.toSorted((a, b) => a - b)) {
    const last = spans.at(-1)
    if (last && place - last.end < GAP) {
      last.end = place + 1
      last.wanted.add(place)
    } else spans.push({ start: place, end: place + 1, wanted: new Set([place]) })
  }
  return spans
}

/** Returns a row as JSON: integers beyond 2^53 become text. */
function jsonRow(row: Readonly<Row>): Row {
  const entries = Object.entries(row).map(([name, cell]) => {
    return [name, typeof cell === 'bigint' ? String(cell) : cell]
  })
  return Object.fromEntries(entries)
}
