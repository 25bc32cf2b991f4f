import { Tokenizer, TokenParser, TokenType } from '@streamparser/json'
import { errorMessage } from '../../errors.ts'
import { isDeeper } from '../is-deeper.ts'
import { type ColumnReader, valueColumn } from './column.ts'
import { inBatches, rowOf, type Table } from './table.ts'
import { broken, headOf, lineAt, MAX_RECORD, type TableSource, textOf } from './table-text.ts'

/** How each token changes the depth. */
const LEVELS: ReadonlyMap<TokenType, number> = new Map([
  [TokenType.LEFT_BRACE, 1],
  [TokenType.LEFT_BRACKET, 1],
  [TokenType.RIGHT_BRACE, -1],
  [TokenType.RIGHT_BRACKET, -1],
])
/** Cells that a table may have whatever is in them. */
const MAX_SPARSE = 1_000_000
/** Levels of one value in a row. */
const MAX_DEPTH = 1_000
const TOO_DEEP = `it is nested more than ${MAX_DEPTH} levels deep`

/** A JSON list of objects; null for any other JSON. */
export function readJsonTable(source: TableSource): Promise<Table | null> {
  return objectTable(source, () => jsonItems(source))
}

/** Newline-delimited JSON objects; null where the first value is none. */
export function readNdjsonTable(source: TableSource): Promise<Table | null> {
  return objectTable(source, () => ndjsonRows(source))
}

async function objectTable(
  source: TableSource,
  items: () => AsyncIterable<unknown>,
): Promise<Table | null> {
  const readers = new Map<string, ColumnReader>()
  let rowCount = 0
  let cells = 0
  for await (const row of items()) {
    if (!isRow(row)) return null
    for (const key of Object.keys(row)) {
      if (readers.has(key)) continue
      const reader = valueColumn(key)
      for (let i = 0; i < rowCount; i++) reader.see(null)
      readers.set(key, reader)
    }
    for (const [key, reader] of readers) reader.see(Object.hasOwn(row, key) ? row[key] : null)
    rowCount++
    cells += Object.keys(row).length
    if (isSparse(rowCount * readers.size, cells)) {
      throw broken(source, null, 'its rows have too few keys in common to be a table.')
    }
  }
  if (rowCount === 0) return null
  const names = [...readers.keys()]
  const columns = [...readers.values()]
  return {
    columns: columns.map((reader) => reader.column()),
    rowCount,
    async *batches() {
      for await (const batch of inBatches(items())) {
        yield batch.filter(isRow).map((row) => {
          const cells = names.map((name) => (Object.hasOwn(row, name) ? row[name] : null))
          return rowOf(names, columns, cells)
        })
      }
    },
  }
}

/** Whether a table would be mostly empty cells, so many that a small file becomes a huge one. */
function isSparse(size: number, filled: number): boolean {
  return size > MAX_SPARSE && size > filled * 10
}

/** The items of the list that the file is, as they are parsed; none where it is no list. */
async function* jsonItems(source: TableSource): AsyncGenerator<unknown> {
  if (!(await headOf(source)).trimStart().startsWith('[')) return
  const tokenizer = new Tokenizer()
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
  parser.onValue = ({ value }) => void items.push(value)
  try {
    for await (const chunk of textOf(source)) {
      tokenizer.write(chunk)
      unfinished = items.length > 0 ? 0 : unfinished + chunk.length
      if (unfinished > MAX_RECORD) throw new Error('one row does not end')
      const parsed = items
      items = []
      yield* parsed
    }
    tokenizer.end()
    if (!parser.isEnded) parser.end()
  } catch (error) {
    throw broken(source, await lineAt(source, offset), `${errorMessage(error)}.`, error)
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
      value = JSON.parse(json)
    } catch (error) {
      throw broken(source, line, 'it is no JSON.', error)
    }
    if (!isRow(value)) {
      if (isFirst) return
      throw broken(source, line, 'it is no JSON object.')
    }
    isFirst = false
    // A level takes two characters at least.
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
