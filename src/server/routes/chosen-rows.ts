import type { z } from 'zod'
import type { TableRows } from '../../assets/tables/table-rows.ts'
import { ByrefError } from '../../core/errors.ts'
import type { condition, rowsPage } from '../../wire/assets.ts'

type Condition = z.infer<typeof condition>
type Cell = unknown

/** Which rows of a table, and which of their columns. */
export interface ChosenRows {
  offset: number
  limit: number
  columns?: readonly string[]
  /** A column, with `-` before it for the largest first. */
  sort?: string
  where: readonly Condition[]
}

/** Of JSON in one page. */
const PAGE_CHARACTERS = 4_000_000

/** Rows to which a sorted page may reach: so many are held while the table is read. */
const SORTED_REACH = 100_000

/**
 * A page of rows. Without conditions and order only its own rows are read; with them the columns that they name are read
 * through, and then the rows of the page.
 *
 * @throws ByrefError `invalid_arguments` for a column that there is not, and a sorted page behind the first 100,000 rows
 */
export async function chosenRows(
  rows: TableRows,
  { offset, limit, columns, sort, where }: ChosenRows,
): Promise<z.infer<typeof rowsPage>> {
  const some = rows.select({ columns })
  const { places, total } = await placesOf(rows, { sort, where, offset, limit })
  const found = await rowsAt(some, places)
  const next = offset + found.length
  return {
    columns: some.columns.map(({ name, type }) => ({ name, type: String(type) })),
    rows: found,
    offset,
    next: found.length === 0 || next >= total ? null : next,
    total,
  }
}

interface Places {
  /** Of the rows of the page, in its order. */
  places: number[]
  total: number
}

async function placesOf(
  rows: TableRows,
  { sort, where, offset, limit }: Omit<ChosenRows, 'columns'>,
): Promise<Places> {
  const key = sort?.replace(/^-/, '')
  const names = [...where.map(({ column }) => column), ...(key === undefined ? [] : [key])]
  const reach = offset + limit
  if (names.length === 0) {
    const count = Math.max(0, Math.min(limit, rows.count - offset))
    return { places: Array.from({ length: count }, (_, i) => offset + i), total: rows.count }
  }
  if (key !== undefined && reach > SORTED_REACH) {
    throw new ByrefError(
      'invalid_arguments',
      `Sorted rows are shown up to ${SORTED_REACH}: filter them, or ask by SQL`,
    )
  }
  const best = key === undefined ? null : firstOf(reach, sort?.startsWith('-') ? -1 : 1)
  const places: number[] = []
  let total = 0
  let place = 0
  for await (const row of rows.select({ columns: [...new Set(names)] })) {
    if (where.every((one) => holds(row[one.column], one))) {
      if (best) best.take(row[key as string], place)
      else if (total >= offset && total < reach) places.push(place)
      total++
    }
    place++
  }
  return { places: best ? best.places().slice(offset) : places, total }
}

/** Keeps the first `count` of many in order, in memory for twice as many. */
function firstOf(count: number, direction: 1 | -1) {
  let kept: { cell: Cell; place: number }[] = []
  const order = (a: { cell: Cell; place: number }, b: { cell: Cell; place: number }) =>
    compareMissingLast(a.cell, b.cell, direction) || a.place - b.place
  const shrink = () => {
    kept = kept.sort(order).slice(0, count)
  }
  return {
    take(cell: Cell, place: number): void {
      kept.push({ cell, place })
      if (kept.length >= 2 * count + 1000) shrink()
    },
    places(): number[] {
      shrink()
      return kept.map(({ place }) => place)
    },
  }
}

function compareMissingLast(a: Cell, b: Cell, direction: 1 | -1): number {
  const isNone = (cell: Cell) => cell === null || cell === undefined
  if (isNone(a) || isNone(b)) return Number(isNone(a)) - Number(isNone(b))
  return direction * compare(a, b)
}

/** Numbers by value, all else by its text. */
function compare(a: Cell, b: Cell): number {
  const [x, y] = isNumber(a) && isNumber(b) ? [a, b] : [textOf(a), textOf(b)]
  return x < y ? -1 : x > y ? 1 : 0
}

function isNumber(cell: Cell): cell is number | bigint {
  return typeof cell === 'number' || typeof cell === 'bigint'
}

function textOf(cell: Cell): string {
  return typeof cell === 'object' ? JSON.stringify(cell) : String(cell)
}

function holds(cell: Cell, { is, to }: Condition): boolean {
  const isMissing = cell === null || cell === undefined
  if (is === 'missing') return isMissing
  if (is === 'not_equal') return isMissing || compareAs(cell, to) !== 0
  if (isMissing || to === undefined || to === null) return false
  switch (is) {
    case 'contains':
      return textOf(cell).toLowerCase().includes(String(to).toLowerCase())
    case 'equal':
      return compareAs(cell, to) === 0
    case 'less':
      return compareAs(cell, to) < 0
    case 'at_most':
      return compareAs(cell, to) <= 0
    case 'more':
      return compareAs(cell, to) > 0
    case 'at_least':
      return compareAs(cell, to) >= 0
  }
}

/** What is asked for may be text, as people type it. */
function compareAs(cell: Cell, to: Condition['to']): number {
  const isTyped = isNumber(cell) && typeof to === 'string' && to.trim() !== ''
  return compare(cell, isTyped && Number.isFinite(Number(to)) ? Number(to) : to)
}

/** Rows that are read and left out rather than read apart: a reading of its own costs as much as some thousand rows. */
const GAP = 2000

/**
 * Rows by their places, in this order, as many as an answer may hold, but one at least. Those that are near each other are
 * read together.
 */
async function rowsAt(
  rows: TableRows,
  places: readonly number[],
): Promise<Record<string, unknown>[]> {
  const found = new Map<number, Record<string, unknown>>()
  let characters = 0
  for (const { start, end, wanted } of spansOf(places)) {
    let place = start
    for await (const row of rows.select({ start, end })) {
      if (wanted.has(place)) {
        found.set(place, shown(row))
        characters += JSON.stringify(found.get(place)).length
      }
      place++
      if (characters > PAGE_CHARACTERS) break
    }
    if (characters > PAGE_CHARACTERS) break
  }
  const [first] = places
  if (first !== undefined && !found.has(first)) return rowsAt(rows, [first])
  // The rest of what was too long for one answer comes with the next page.
  const end = places.findIndex((place) => !found.has(place))
  const whole = end < 0 ? places : places.slice(0, end)
  return whole.map((place) => found.get(place) as Record<string, unknown>)
}

/** Places in spans that are read at once, first to last. */
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

/** Cells as JSON has them: whole numbers beyond 2^53 are text. */
function shown(row: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const entries = Object.entries(row).map(([name, cell]) => {
    return [name, typeof cell === 'bigint' ? String(cell) : cell]
  })
  return Object.fromEntries(entries)
}
