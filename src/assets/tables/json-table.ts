import { isPlainObject } from '../../core/json/json.ts'
import { LineSplitter } from '../../core/line-splitter.ts'
import type { ByteRange } from '../bodies/body.ts'
import { isDeeper } from '../content-access.ts'
import { inBatches } from '../in-batches.ts'
import { JsonWalker, NotJsonError } from '../json/json-walker.ts'
import { type ColumnReader, valueColumn } from './column.ts'
import { parseJson } from './long-number.ts'
import { broken, MAX_COLUMNS, tooWide } from './table-error.ts'
import {
  BATCH_ROWS,
  checkDense,
  headOf,
  MAX_RECORD,
  type TableInput,
  type TableSource,
  textOf,
} from './table-text.ts'

/** Maximum depth of a value in a row. */
const MAX_DEPTH = 1_000
const TOO_DEEP = `it is nested more than ${MAX_DEPTH} levels deep.`

/** Reads a JSON list of objects. */
export function readJsonTable(source: TableSource): TableInput {
  return objectTable(source, () => jsonItems(source))
}

/** Reads newline-delimited JSON objects. */
export function readNdjsonTable(source: TableSource): TableInput {
  return objectTable(source, () => ndjsonRows(source))
}

/** Returns objects as a table. New keys become columns. */
export function objectTable(
  source: Pick<TableSource, 'name'>,
  items: () => AsyncIterable<unknown>,
): TableInput {
  const columns: ColumnReader[] = []
  const places = new Map<string, number>()

  /** Returns the cells of a row in the order of the columns. New keys become columns. */
  function cellsOf(row: Record<string, unknown>): unknown[] {
    const cells: unknown[] = []
    for (const key of Object.keys(row)) {
      let place = places.get(key)
      if (place === undefined) {
        place = columns.push(valueColumn(key)) - 1
        places.set(key, place)
        if (columns.length > MAX_COLUMNS) throw tooWide(source, columns.length)
      }
      while (cells.length < place) cells.push(null)
      cells[place] = row[key]
    }
    return cells
  }

  return {
    columns,
    async *batches() {
      const check = checkDense(source, 'its rows have too few keys in common to be a table.')
      let rows = 0
      for await (const batch of inBatches(items(), BATCH_ROWS)) {
        const found = batch.filter(isPlainObject)
        if (found.length < batch.length) {
          yield null
          return
        }
        rows += found.length
        yield found.map(cellsOf)
        const cells = found.reduce((sum, row) => sum + Object.keys(row).length, 0)
        check(columns.length, found.length, cells)
      }
      if (rows === 0) yield null
    },
  }
}

/** Yields the items of the list in the file, as they are parsed. Yields nothing if the file is not a list. */
async function* jsonItems(source: TableSource): AsyncGenerator<unknown> {
  if (!(await headOf(source)).trimStart().startsWith('[')) return
  const found: ByteRange[] = []
  let itemStart = 0
  // What was read since the end of the last item, and where it begins.
  let text = ''
  let textStart = 0
  let line = 1
  const fail = (reason: string, at: number, cause?: unknown) =>
    broken(source, line + newlinesIn(text.slice(0, at - textStart)), reason, cause)
  const walker = new JsonWalker(
    {
      begin(_, start) {
        if (walker.level === MAX_DEPTH) throw fail(TOO_DEEP, start)
        if (walker.level === 1) itemStart = start
      },
      end(end) {
        if (walker.level === 1) found.push({ start: itemStart, end })
      },
      scalar({ start, end }) {
        if (walker.level === 1) found.push({ start, end })
      },
    },
    { keepsValues: false },
  )
  const read = (step: () => void) => {
    try {
      step()
    } catch (error) {
      if (!(error instanceof NotJsonError)) throw error
      const at = walker.position
      const rest = text.slice(at - textStart, at - textStart + 20)
      const where = rest === '' ? 'it ends too early' : `${JSON.stringify(rest)} is unexpected`
      throw fail(`it is not valid JSON: ${where}.`, at, error)
    }
  }
  for await (const chunk of textOf(source)) {
    text += chunk
    read(() => walker.write(chunk))
    for (const { start, end } of found) {
      yield parseJson(text.slice(start - textStart, end - textStart), (number) => number)
    }
    const { end } = found.at(-1) ?? { end: textStart }
    line += newlinesIn(text.slice(0, end - textStart))
    text = text.slice(end - textStart)
    textStart = end
    found.length = 0
    if (text.length > MAX_RECORD)
      throw fail(`a row has more than ${MAX_RECORD / 1024 / 1024} MB.`, end)
  }
  read(() => walker.end())
}

async function* ndjsonRows(source: TableSource): AsyncGenerator<Record<string, unknown>> {
  let line = 0
  let isFirst = true
  for await (const json of linesOf(source)) {
    line++
    if (json.trim() === '') continue
    let value: unknown
    try {
      value = parseJson(json, (number) => number)
    } catch (error) {
      throw broken(source, line, 'it is not valid JSON.', error)
    }
    if (!isPlainObject(value)) {
      if (isFirst) return
      throw broken(source, line, 'it is not a JSON object.')
    }
    isFirst = false
    // Each level takes at least two characters.
    if (json.length > 2 * MAX_DEPTH && isDeeper(value, MAX_DEPTH - 1))
      throw broken(source, line, TOO_DEEP)
    yield value
  }
}

async function* linesOf(source: TableSource): AsyncGenerator<string> {
  let line = 1
  const splitter = new LineSplitter()
  for await (const chunk of textOf(source)) {
    const lines = splitter.push(chunk)
    yield* lines
    line += lines.length
    if (splitter.length > MAX_RECORD) throw broken(source, line, 'the line does not end.')
  }
  if (splitter.length > 0) yield splitter.end()
}

function newlinesIn(text: string): number {
  return text.split('\n').length - 1
}
