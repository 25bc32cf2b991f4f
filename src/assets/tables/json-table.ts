import { Tokenizer, TokenParser, TokenType } from '@streamparser/json'
import { errorMessage } from '../../errors.ts'
import { type ColumnReader, valueColumn } from './column.ts'
import { inBatches, rowOf, type Table } from './table.ts'
import { broken, lineAt, MAX_RECORD, openText, type TableSource } from './table-text.ts'

/** How each token changes the depth. */
const LEVELS: ReadonlyMap<TokenType, number> = new Map([
  [TokenType.LEFT_BRACE, 1],
  [TokenType.LEFT_BRACKET, 1],
  [TokenType.RIGHT_BRACE, -1],
  [TokenType.RIGHT_BRACKET, -1],
])
/** Levels of one value in a row. */
const MAX_DEPTH = 1_000

/** A JSON list of objects; null for any other JSON. */
export function readJsonTable(source: TableSource): Promise<Table | null> {
  return objectTable(() => jsonItems(source))
}

/** Newline-delimited JSON objects; null where there is none. */
export function readNdjsonTable(source: TableSource): Promise<Table | null> {
  return objectTable(() => ndjsonRows(source))
}

async function objectTable(source: () => AsyncIterable<unknown>): Promise<Table | null> {
  const readers = new Map<string, ColumnReader>()
  let rowCount = 0
  for await (const row of source()) {
    if (!isRow(row)) return null
    for (const key of Object.keys(row)) {
      if (readers.has(key)) continue
      const reader = valueColumn(key)
      for (let i = 0; i < rowCount; i++) reader.see(null)
      readers.set(key, reader)
    }
    for (const [key, reader] of readers) reader.see(Object.hasOwn(row, key) ? row[key] : null)
    rowCount++
  }
  if (rowCount === 0) return null
  const names = [...readers.keys()]
  const columns = [...readers.values()]
  return {
    columns: columns.map((reader) => reader.column()),
    rowCount,
    async *batches() {
      for await (const batch of inBatches(source())) {
        yield batch.filter(isRow).map((row) => {
          const cells = names.map((name) => (Object.hasOwn(row, name) ? row[name] : null))
          return rowOf(names, columns, cells)
        })
      }
    },
  }
}

/** The items of the list that the file is, as they are parsed; none where it is no list. */
async function* jsonItems(source: TableSource): AsyncGenerator<unknown> {
  const text = await openText(source)
  if (!text.head.trimStart().startsWith('[')) return text.cancel()
  const tokenizer = new Tokenizer()
  const parser = new TokenParser({ paths: ['$.*'], keepStack: false })
  let items: unknown[] = []
  let depth = 0
  let offset = 0
  let unfinished = 0
  tokenizer.onToken = (token) => {
    offset = token.offset
    depth += LEVELS.get(token.token) ?? 0
    if (depth > MAX_DEPTH) throw new Error(`it is nested more than ${MAX_DEPTH} levels deep`)
    parser.write(token)
  }
  parser.onValue = ({ value }) => void items.push(value)
  try {
    for await (const chunk of text.chunks) {
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
  for await (const json of linesOf(source)) {
    line++
    if (json.trim() === '') continue
    let value: unknown
    try {
      value = JSON.parse(json)
    } catch (error) {
      throw broken(source, line, 'it is no JSON.', error)
    }
    if (!isRow(value)) throw broken(source, line, 'it is no JSON object.')
    yield value
  }
}

async function* linesOf(source: TableSource): AsyncGenerator<string> {
  let line = 1
  let rest = ''
  for await (const chunk of (await openText(source)).chunks) {
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
