import type { LanguageModelV4Prompt, LanguageModelV4ToolResultPart } from '@ai-sdk/provider'
import { METAS_HEADING } from '../src/core/messages/metas-block.ts'

/** A column of rows as the prompt describes it. */
export interface DemoColumn {
  name: string
  /** `number`, `date`, `text` … */
  type: string
  /** The reason if it stays text although it looks like numbers or dates. */
  warning?: string
}

/** A picture, a text or another file that is attached. */
export interface DemoFile {
  id: string
  /** `image`, `file` … */
  kind: string
  name: string
  /** Its MIME type and its size, if the prompt has them. */
  mime: string | null
  bytes: string | null
  /** Its text, if the prompt has all of it. */
  text: string | null
}

/** Rows that the prompt describes: of a table among the assets, or of a summary in the data. */
export interface DemoRows {
  /** The reference that calls use: `asset://…/content/rows`, `†state.…`. */
  ref: string
  /** The name of the table. */
  name: string
  columns: DemoColumn[]
}

/** A call of this turn with its result. */
export interface DemoResult {
  tool: string
  input: Record<string, unknown>
  /** The value of the result; null if it failed. */
  value: Record<string, unknown> | null
  error: string | null
}

/** What the demo model reads from its prompt. */
export interface DemoPrompt {
  /** The last question of the person. */
  question: string
  /** Tables among the assets, newest last. */
  tables: DemoRows[]
  /** Lists of rows in the data, newest last. */
  summaries: DemoRows[]
  /** The calls that were made since the question. */
  results: DemoResult[]
  /** The calls of earlier questions, oldest first. */
  earlier: DemoResult[]
  /** Attached files that are not tables, newest last. */
  files: DemoFile[]
}

/** The beginning of a text that the engine wrote. */
const OURS =
  /^(## References|\[(Attached|unresolved|Text of|Not there|Summary of|same|\d+ earlier)\b|\[\w+ not shown:)/

const DATA_HEADING = /^## Data: ¶([\p{L}_][\p{L}\p{N}_-]*)$/u

/** Reads a prompt: the last question, the metas block, the data blocks and the results since the question. */
export function readDemoPrompt(prompt: LanguageModelV4Prompt): DemoPrompt {
  const read: DemoPrompt = {
    question: '',
    tables: [],
    summaries: [],
    results: [],
    earlier: [],
    files: [],
  }
  const calls = new Map<string, { tool: string; input: Record<string, unknown> }>()
  for (const message of prompt) {
    if (message.role === 'user') {
      const texts = message.content.flatMap((part) => (part.type === 'text' ? [part.text] : []))
      for (const text of texts) readUserText(text, read)
    } else if (message.role === 'assistant') {
      for (const part of message.content) {
        if (part.type !== 'tool-call') continue
        calls.set(part.toolCallId, { tool: part.toolName, input: asObject(part.input) ?? {} })
      }
    } else if (message.role === 'tool') {
      for (const part of message.content) {
        const call = part.type === 'tool-result' ? calls.get(part.toolCallId) : undefined
        if (part.type !== 'tool-result' || !call) continue
        const result = { ...call, ...outcome(part) }
        read.results.push(result)
        if (result.value) read.summaries.push(...writtenRows(result.value))
      }
    }
  }
  const isTable = (id: string): boolean =>
    read.tables.some(({ ref }) => ref.startsWith(`asset://${encodeURIComponent(id)}/`))
  return { ...read, files: read.files.filter(({ id }) => !isTable(id)) }
}

function readUserText(text: string, read: DemoPrompt): void {
  const [heading = ''] = text.split('\n', 1)
  const kind = DATA_HEADING.exec(heading)?.[1]
  if (heading === METAS_HEADING) {
    read.tables.push(...jsonObjects(text).flatMap(tablesOf))
  } else if (kind) {
    const isOutline = text.includes('\nThis is an outline')
    const [block = {}] = jsonObjects(text)
    read.summaries.push(...rowsIn(block, `†${kind}`, isOutline))
  } else if (!OURS.test(heading)) {
    read.question = text
    read.earlier.push(...read.results)
    read.results = []
  } else readFile(text, read.files)
}

const ATTACHED = /^\[Attached (\w+): asset_id=("(?:[^"\\]|\\.)*")(?: name=("(?:[^"\\]|\\.)*"))?\]$/
const NOT_SHOWN = /^\[\w+ not shown: asset:\/\/([^,\s]+), ([^,\s]+), ([\d.,]+ \w+)/
const TEXT = /^\[Text of asset:\/\/([^\]\s]+)\]\n([\s\S]*)\n\[End of [^\n]*\]$/

/** Reads the engine's note about an attached file. */
function readFile(text: string, files: DemoFile[]): void {
  const attached = ATTACHED.exec(text)
  if (attached) {
    const [, kind = '', id = '""', name = '"the file"'] = attached
    const file = { id: JSON.parse(id), kind, name: JSON.parse(name) }
    files.push({ ...file, mime: null, bytes: null, text: null })
    return
  }
  const [, id, mime, bytes] = NOT_SHOWN.exec(text) ?? []
  const seen = files.find((file) => file.id === id)
  if (seen) Object.assign(seen, { mime, bytes })
  const [, textId, content] = TEXT.exec(text) ?? []
  const read = files.find((file) => file.id === textId)
  if (read) read.text = content ?? null
}

/** Returns lists of rows that a call wrote to the data. Its result shows a preview of them. */
function writtenRows({ written_to, value, preview }: Record<string, unknown>): DemoRows[] {
  const shown = asObject(value) ?? asObject(preview)
  if (!Array.isArray(written_to) || !shown) return []
  return written_to.flatMap((ref) => rowsIn(shown, String(ref), preview !== undefined))
}

/** Returns the JSON objects that begin and end at the margin of a block. */
function jsonObjects(text: string): Record<string, unknown>[] {
  const found: Record<string, unknown>[] = []
  let lines: string[] = []
  for (const line of text.split('\n')) {
    if (line === '{') lines = [line]
    else if (lines.length > 0) lines.push(line)
    if (line !== '}' || lines.length === 0) continue
    const object = parseObject(lines.join('\n'))
    if (object) found.push(object)
    lines = []
  }
  return found
}

function tablesOf(meta: Record<string, unknown>): DemoRows[] {
  const id = String(meta.asset_id)
  return Object.entries(meta).flatMap(([path, line]) => {
    const columns = describedColumns(line)
    if (!columns) return []
    const ref = `asset://${encodeURIComponent(id)}/${path}`
    return [{ ref, name: String(meta.asset_name ?? id), columns }]
  })
}

/** A name may contain brackets and commas; the types are known. */
const COLUMN =
  /(.+?) \(((?:number|integer|decimal|boolean|date|string|text|object|array|mixed|empty|list|dict)(?: or \w+)*)(?:, \d+ missing)?(?:, (stays text[^()]*))?\)(?:, |$)/g

/** Reads the columns in a line such as `<class 'list'>, 9 rows, columns: day (date), rain (number)`. */
function describedColumns(line: unknown): DemoColumn[] | null {
  const described = typeof line === 'string' ? /rows?, columns: (.+)$/.exec(line) : null
  if (!described?.[1]) return null
  return [...described[1].matchAll(COLUMN)].map(([, name = '', type = '', warning]) => ({
    name,
    type,
    ...(warning === undefined ? {} : { warning }),
  }))
}

/** Returns lists of rows in a data block: in its values, or in the outline that a large block shows instead. */
function rowsIn(block: Record<string, unknown>, prefix: string, isOutline: boolean): DemoRows[] {
  return Object.entries(block).flatMap(([key, value]) => {
    const path = isOutline ? key.split(/[./]/).map(decodeURIComponent) : [key]
    const ref = prefix + path.map(step).join('')
    const name = path.join(' ')
    const columns = describedColumns(value) ?? columnsOf(value)
    if (columns) return [{ ref, name, columns }]
    const inner = asObject(value)
    return inner
      ? rowsIn(inner, ref, false).map((rows) => ({ ...rows, name: `${name} ${rows.name}` }))
      : []
  })
}

function columnsOf(value: unknown): DemoColumn[] | null {
  const first = Array.isArray(value) ? asObject(value[0]) : null
  if (!first) return null
  return Object.entries(first).map(([name, item]) => ({
    name,
    type: typeof item === 'number' ? 'number' : 'text',
  }))
}

/** Returns one step of a `†` path: without quotes if its characters allow that, else quoted in brackets. */
function step(key: string): string {
  return /^[\p{L}_][\p{L}\p{N}_-]*$/u.test(key) ? `.${key}` : `[${JSON.stringify(key)}]`
}

function outcome({ output }: LanguageModelV4ToolResultPart): Pick<DemoResult, 'value' | 'error'> {
  if (output.type === 'json') return { value: asObject(output.value), error: null }
  if (output.type === 'text') return { value: parseObject(unnamed(output.value)), error: null }
  const said = 'value' in output && typeof output.value === 'string' ? output.value : output.type
  return { value: null, error: said }
}

/**
 * Returns the JSON of a result, without the name and the note on changed arguments before it, and the notes on bodies
 * after it.
 */
function unnamed(text: string): string {
  const [json = ''] = text
    .replace(/^†result#\d+\n/, '')
    .replace(/^A person changed the arguments to .*\n/, '')
    .replace(/^†result#\d+\n/, '')
    .split('\n', 1)
  return json
}

function parseObject(text: string): Record<string, unknown> | null {
  try {
    return asObject(JSON.parse(text))
  } catch {
    return null
  }
}

function asObject(value: unknown): Record<string, unknown> | null {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : null
}
