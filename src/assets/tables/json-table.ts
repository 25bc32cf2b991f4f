import { Tokenizer, TokenParser, TokenType } from '@streamparser/json'
import { errorMessage } from '../../core/errors.ts'
import { isDeeper } from '../content-access.ts'
import { inBatches } from '../in-batches.ts'
import { type ColumnReader, valueColumn } from './column.ts'
import { exactNumber, parseJson } from './long-number.ts'
import { broken, MAX_COLUMNS, tooWide } from './table-error.ts'
import {
  BATCH_ROWS,
  checkDense,
  headOf,
  lineAt,
  MAX_RECORD,
  type TableInput,
  type TableSource,
  textOf,
} from './table-text.ts'

/** How each token changes the depth. */
const LEVELS: ReadonlyMap<TokenType, number> = new Map([
  [TokenType.LEFT_BRACE, 1],
  [TokenType.LEFT_BRACKET, 1],
  [TokenType.RIGHT_BRACE, -1],
  [TokenType.RIGHT_BRACKET, -1],
])
/** Maximum depth of a value in a row. */
const MAX_DEPTH = 1_000
const TOO_DEEP = `it is nested more than ${MAX_DEPTH} levels deep`

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
        const found = batch.filter(isRow)
        if (found.length < batch.length) return yield null
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
  const tokenizer = new ExactTokenizer()
  const parser = new TokenParser({ paths: ['$.*'], keepStack: false })
  let items: unknown[] = []
  let depth = 0
  let offset = 0
  let unfinished = 0
  tokenizer.onToken = (token) => {
    offset = token.offset
    depth += LEVELS.get(token.token) ?? 0
    if (depth > MAX_DEPTH) throw new Error(TOO_DEEP)
    parser.write(token)
  }
  parser.onValue = ({ value }) => {
    items.push(value)
  }
  try {
    for await (const chunk of textOf(source)) {
      tokenizer.write(chunk)
      unfinished = items.length > 0 ? 0 : unfinished + chunk.length
      if (unfinished > MAX_RECORD)
        throw new Error(`a row has more than ${MAX_RECORD / 1024 / 1024} MB`)
      const parsed = items
      items = []
      yield* parsed
    }
    tokenizer.end()
    if (!parser.isEnded) parser.end()
  } catch (error) {
    throw broken(
      source,
      await lineAt(source, offset),
      `${errorMessage(error).replace(/\.?$/, '.')}`,
      error,
    )
  }
}

/** Keeps the digits of numbers that a double would round. */
class ExactTokenizer extends Tokenizer {
  override parseNumber(text: string): number {
    return exactNumber(text) as number
  }
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
    if (!isRow(value)) {
      if (isFirst) return
      throw broken(source, line, 'it is not a JSON object.')
    }
    isFirst = false
    // Each level takes at least two characters.
    if (json.length > 2 * MAX_DEPTH && isDeeper(value, MAX_DEPTH - 1))
      throw broken(source, line, `${TOO_DEEP}.`)
    yield value
  }
}

async function* linesOf(source: TableSource): AsyncGenerator<string> {
  let line = 1
  let rest = ''
  for await (const chunk of textOf(source)) {
    const lines = chunk.split('\n')
    lines[0] = rest + lines[0]
    rest = lines.pop() ?? ''
    yield* lines
    line += lines.length
    if (rest.length > MAX_RECORD) throw broken(source, line, 'the line does not end.')
  }
  if (rest !== '') yield rest
}

function isRow(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
