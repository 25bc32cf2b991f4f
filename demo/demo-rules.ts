import type { LanguageModelV4Prompt } from '@ai-sdk/provider'
import { tableQuestions } from '../src/core/messages/table-questions.ts'
import type { ModelAnswer } from '../src/models/answer-stream.ts'
import { tellFile } from './demo-files.ts'
import { type DemoPrompt, type DemoResult, type DemoRows, readDemoPrompt } from './demo-prompt.ts'
import {
  type DemoQuestion,
  type Groups,
  isNumeric,
  type NamedValue,
  type Understood,
  understand,
} from './demo-question.ts'
import { type Recognized, recognize, reportRewrites, rewrites } from './demo-rewrites.ts'
import { tellColumns, tellReport, tellResult } from './demo-tell.ts'
import { columnNamer, mayNameCell } from './demo-words.ts'
import { type ReportRequest, readReport } from './read-report.ts'
import { tokens } from './tokens.ts'
import { whereText } from './where.ts'

const HELLO =
  /^(?:hello|hi|hey|help|good (?:morning|evening)|thanks|thank you|are you there|who are you|what can (?:you|i) (?:do|ask))\b/i
const CORRECTION =
  /\binstead\b|^(?:no,? )?(?:(?:can|could|would|will) you )?(?:please )?(?:make(?! an? (?:bar )?chart\b)|change|set|correct|update|edit)\b/i
const FAILURE = /\b(?:failed|failing|fails|wrong)\s+call\b|\bcall that fails\b/i
const MOST_LOOKS = 3
/** The recipient of a report if the question names none. */
const SOMEBODY = 'team@example.com'

/** Returns the next answer to a prompt, given the names of the available tools. */
export function demoAnswer(prompt: LanguageModelV4Prompt, tools: ReadonlySet<string>): ModelAnswer {
  const read = readDemoPrompt(prompt)
  const { question, tables, files } = read
  if (FAILURE.test(question)) return failOnPurpose(read, tools) ?? { text: help(read) }
  const last = read.results.at(-1)
  if (last?.error && last.tool === 'send_report') {
    return { text: `The report was not sent. ${last.error}` }
  }
  if (last?.error) return { text: `The call of \`${last.tool}\` failed. ${last.error}` }
  if (HELLO.test(question.trim())) return { text: help(read) }
  if (CORRECTION.test(question.trim())) return { text: EDIT }
  const onFile = tellFile(question, read)
  if (onFile !== null) return { text: onFile }
  if (tables.length === 0) return { text: files.length > 0 ? refuseFiles(read) : help(read) }
  const report = readReport(question)
  const found = find(report?.about ?? question, read, tools)
  switch (found.type) {
    case 'reading':
      return report
        ? reportStep(found, report, read, tools)
        : steps(found.table, found.reading, read, tools)
    case 'look':
      return found.call
    case 'refused':
      return { text: refuse(report?.about ?? question, found, read, report) }
    default:
      return { text: help(read) }
  }
}

const EDIT =
  'I changed nothing: I cannot change a call by words. While a call waits for approval, choose “Edit” on its card, correct the arguments there, and approve it. A call that has run already stays as it is.'

/** A question without an answer, and the newest table that it may be about. */
interface Refused {
  table: DemoRows
  understood: Understood
}

type Found =
  | { type: 'reading'; table: DemoRows; reading: DemoQuestion }
  | { type: 'look'; call: ModelAnswer }
  | ({ type: 'refused' } & Refused)
  | { type: 'nothing' }

/** Reads a question about the newest table that matches. If no columns match, searches for its words in the cells. */
function find(
  question: string,
  { tables, results }: DemoPrompt,
  tools: ReadonlySet<string>,
): Found {
  const named = tables.filter(({ name }) => isNamed(question, name))
  const able = (named.length > 0 ? named : tables).toReversed()
  const canLook = (table: DemoRows): boolean =>
    tools.has('find_values') &&
    able.indexOf(table) < MOST_LOOKS &&
    cellsFound(table, results) === null
  const tried: Refused[] = []
  for (const table of able) {
    const asked = named.length > 0 ? withoutName(question, table.name) : question
    const understood = understand(asked, table.columns, cellsFound(table, results) ?? [])
    const { reading } = understood
    if (reading && !(mayNameCell(question) && canLook(table))) {
      return { type: 'reading', table, reading }
    }
    tried.push({ table, understood })
  }
  const next = able.find(canLook)
  if (next) {
    const text = `I will look for the words of the question among the cells of ${next.name}.`
    const call = { name: 'find_values', arguments: { rows: next.ref, question } }
    return { type: 'look', call: { text, calls: [call] } }
  }
  const [refused] = tried
  return refused ? { type: 'refused', ...refused } : { type: 'nothing' }
}

/** The cells that were found in a table since the question. Null if no search was made. */
function cellsFound({ ref }: DemoRows, results: readonly DemoResult[]): NamedValue[] | null {
  const look = results.find(({ tool, input }) => tool === 'find_values' && input.rows === ref)
  return look ? ((look.value?.found as NamedValue[] | undefined) ?? []) : null
}

function isNamed(question: string, name: string): boolean {
  const bare = tokens(name.replace(/\.\w+$/, '')).join(' ')
  return (
    / (?:in|of|from) /i.test(` ${question} `) &&
    ` ${tokens(question).join(' ')} `.includes(` ${bare} ${extension(name)}`)
  )
}

function extension(name: string): string {
  return tokens(/\.(\w+)$/.exec(name)?.[1] ?? '').join(' ')
}

function withoutName(question: string, name: string): string {
  const all = ` ${tokens(question).join(' ')} `
  return all.replace(` ${tokens(name).join(' ')} `, ' file ')
}

/** The next step towards an answer. */
function steps(
  table: DemoRows,
  reading: DemoQuestion,
  read: DemoPrompt,
  tools: ReadonlySet<string>,
): ModelAnswer {
  if (reading.type === 'columns') return { text: tellColumns(table) }
  const last = read.results.findLast(({ tool }) => tool !== 'find_values')
  if (reading.type === 'groups') return groupSteps(table, reading, read, tools)
  if (last) return { text: tellResult(reading, table, last) }
  const [name, input] = callFor(reading)
  if (!tools.has(name)) return { text: help(read) }
  const answer = { name, arguments: { rows: table.ref, ...input, ...conditions(reading) } }
  return {
    text: `I will ask ${table.name}${whereText(reading.where)}, passing its rows by reference.`,
    calls: [answer],
  }
}

function conditions({ where }: Pick<DemoQuestion, 'where'>): Record<string, unknown> {
  return where.length > 0 ? { where } : {}
}

/** Returns the tool and its arguments for a question that takes one call. */
function callFor(reading: Exclude<DemoQuestion, Groups>): [string, Record<string, unknown>] {
  switch (reading.type) {
    case 'list':
      return ['list_rows', { limit: reading.limit }]
    case 'values':
      return ['list_values', { column: reading.column }]
    case 'rank':
      return ['rank_rows', { by: reading.by, order: reading.order, limit: reading.limit }]
    case 'measure':
      return [
        'measure_rows',
        {
          measure: reading.measure,
          ...(reading.value === undefined ? {} : { value: reading.value }),
        },
      ]
    default:
      return ['describe_rows', {}]
  }
}

/** Charts the groups, unless an earlier call did, and ranks them if the question requires that. */
function groupSteps(
  table: DemoRows,
  reading: DemoQuestion & Groups,
  read: DemoPrompt,
  tools: ReadonlySet<string>,
): ModelAnswer {
  if (!tools.has('chart_rows')) return { text: help(read) }
  const input = chartInput(table, reading)
  const isSame = ({ tool, input: made, value }: DemoResult): boolean => {
    const { _outputPath, title, ...asked } = made
    return tool === 'chart_rows' && value !== null && sameJson(asked, input)
  }
  const now = read.results.find(isSame)
  const ranked = read.results.find(({ tool }) => tool === 'rank_rows')
  if (ranked) return { text: tellResult(reading, table, ranked, now) }
  const charted = now ?? (reading.order ? read.earlier.findLast(isSame) : undefined)
  if (!charted) return chartCall(table, reading, read)
  if (!reading.order) return { text: tellResult(reading, table, charted) }
  if (!tools.has('rank_rows')) return { text: help(read) }
  const rows = `${charted.input._outputPath}.rows`
  const by = valueColumnOf(charted, reading)
  return {
    text: `I will look that up in \`${rows}\`.`,
    calls: [
      {
        name: 'rank_rows',
        arguments: { rows, by, order: reading.order, limit: reading.limit ?? 1 },
      },
    ],
  }
}

function sameJson(a: Record<string, unknown>, b: Record<string, unknown>): boolean {
  const text = (value: Record<string, unknown>): string =>
    JSON.stringify(Object.entries(value).sort())
  return text(a) === text(b)
}

/** The name of the measured column in the rows of a summary. */
function valueColumnOf(
  { value }: DemoResult,
  { group, interval, measure, value: column }: Groups,
): string {
  const result = (value?.value ?? value?.preview ?? value) as { value_column?: unknown } | null
  if (typeof result?.value_column === 'string') return result.value_column
  const named = measure === 'count' || column === undefined ? measure : column
  return named === (interval ?? group) ? `${measure} of rows` : named
}

function chartInput(table: DemoRows, reading: DemoQuestion & Groups): Record<string, unknown> {
  const { group, interval, measure, value } = reading
  return {
    rows: table.ref,
    group_by: group,
    ...(interval ? { interval } : {}),
    ...(measure === 'count' || value === undefined ? {} : { value }),
    measure,
    ...conditions(reading),
  }
}

function chartCall(
  table: DemoRows,
  reading: DemoQuestion & Groups,
  { summaries }: DemoPrompt,
): ModelAnswer {
  const { group, interval, measure, value } = reading
  const input = chartInput(table, reading)
  const what = measure === 'count' ? 'the count' : `the ${measure} of ${value}`
  const label = [interval ?? group, measure, measure === 'count' ? '' : value]
  const key = freshKey(label.filter(Boolean).join('_'), summaries)
  return {
    text: `I will chart ${what} by ${interval ?? group} from ${table.name}${whereText(reading.where)}, passing the rows by reference.`,
    calls: [{ name: 'chart_rows', arguments: { ...input, _outputPath: `†state.${key}` } }],
  }
}

/** Returns a name for the summary that is not used in the data yet. */
function freshKey(label: string, summaries: readonly DemoRows[]): string {
  const base =
    label
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, '_')
      .replace(/^_+|_+$/g, '') || 'summary'
  const taken = (key: string): boolean =>
    summaries.some(({ ref }) => ref.startsWith(`†state.${key}.`))
  if (!taken(base)) return base
  for (let n = 2; ; n++) if (!taken(`${base}_${n}`)) return `${base}_${n}`
}

/** Makes the summary, and then calls the tool that needs an approval. */
function reportStep(
  { table, reading }: { table: DemoRows; reading: DemoQuestion },
  report: ReportRequest,
  read: DemoPrompt,
  tools: ReadonlySet<string>,
): ModelAnswer {
  if (!tools.has('send_report')) {
    return { text: 'I cannot answer that, because I have no tool that sends reports.' }
  }
  if (reading.type !== 'groups') {
    const why = 'a report lists one number for each group, and not rows or a single number'
    return { text: decline(why, report.about, table, read, report) }
  }
  const sent = read.results.find(({ tool }) => tool === 'send_report')
  if (sent) return { text: tellReport(sent) }
  const isChart = ({ tool, value }: DemoResult): boolean => tool === 'chart_rows' && value !== null
  const charted = read.results.find(isChart)
  if (!charted) return chartCall(table, { ...reading, order: undefined }, read)
  const subject = `${reading.value ?? 'Rows'} by ${reading.interval ?? reading.group}`
  const { to } = report
  const who = to === null ? 'You named no recipient, so I propose one. ' : ''
  return {
    text: `I will send the report. ${who}A person must approve that, and can edit the recipient and the subject first.`,
    calls: [
      {
        name: 'send_report',
        arguments: { to: to ?? SOMEBODY, subject, rows: `${charted.input._outputPath}.rows` },
      },
    ],
  }
}

/** Calls a tool with a misspelled column name, and corrects it with the help of the error. */
function failOnPurpose(read: DemoPrompt, tools: ReadonlySet<string>): ModelAnswer | null {
  const table = read.tables.findLast(({ columns }) => columns.some(isNumeric))
  const column = table?.columns.find(isNumeric)?.name
  if (!table || column === undefined || !tools.has('rank_rows')) return null
  const call = (by: string, text: string): ModelAnswer => ({
    text,
    calls: [{ name: 'rank_rows', arguments: { rows: table.ref, by, order: 'highest', limit: 1 } }],
  })
  const last = read.results.at(-1)
  if (!last) {
    const wrong = `${column}?`
    return call(
      wrong,
      `I will ask for a column “${wrong}”, which does not exist, so that the call fails.`,
    )
  }
  if (last.error && read.results.length === 1) {
    return call(
      column,
      `The call failed: ${last.error} I correct the name of the column and call again.`,
    )
  }
  if (last.error) return { text: `The corrected call failed too. ${last.error}` }
  const reading = { type: 'rank', by: column, order: 'highest', limit: 1, where: [] } as const
  const told = tellResult({ ...reading, where: [] }, table, last)
  return {
    text: `${told}\n\nThe first call failed; its error listed the columns, and the second call used the right one.`,
  }
}

function lower(text: string): string {
  return text.slice(0, 1).toLowerCase() + text.slice(1)
}

/** Explains why there is no answer, and what can be asked instead. */
function refuse(
  question: string,
  { table, understood }: Refused,
  read: DemoPrompt,
  report: ReportRequest | null,
): string {
  const recognized = recognize(question, table, cellsFound(table, read.results) ?? [])
  return decline(reason(question, table, understood, recognized), question, table, read, report)
}

/** Returns one sentence, and up to three rewrites of the question that have an answer. */
function decline(
  why: string,
  question: string,
  table: DemoRows,
  read: DemoPrompt,
  report: ReportRequest | null,
): string {
  const recognized = recognize(question, table, cellsFound(table, read.results) ?? [])
  const place = table === read.tables.at(-1) ? '' : ` in ${table.name}`
  const proposed = [
    ...(report ? reportRewrites(table, recognized, report.to) : []),
    ...rewrites(question, table, recognized).map((one) => one.replace(/\??$/, `${place}$&`)),
  ]
  const works = proposed.filter((one) => isUnderstood(one, table, read))
  const list = works.slice(0, 3).map((one) => `- “${one}”`)
  const refusal = `I cannot answer that, because ${why}.`
  return list.length === 0
    ? refusal
    : `${refusal} About ${table.name} you can ask, for example:\n\n${list.join('\n')}`
}

/** Whether a question has exactly one reading about this table. */
function isUnderstood(question: string, table: DemoRows, read: DemoPrompt): boolean {
  const report = readReport(question)
  const found = find(report?.about ?? question, read, new Set())
  if (found.type !== 'reading' || found.table !== table) return false
  return report === null || found.reading.type === 'groups'
}

function reason(
  question: string,
  { name, columns }: DemoRows,
  { unknown, unclear, isAmbiguous }: Understood,
  { columns: named, cells, hasOperation }: Recognized,
): string {
  const names = unknown.filter((word, i) => unknown.indexOf(word) === i)
  if (names.length > 0) {
    const words = names.map((word) => `“${word}”`).join(', ')
    return `${words} ${names.length === 1 ? 'is' : 'are'} not a column or a cell of ${name}, or a word that I know`
  }
  if (unclear.length > 0) return `the question fits more than one column (${unclear.join(', ')})`
  const words = tokens(question)
  const namer = columnNamer(columns.map((column) => column.name))
  const warned = words
    .flatMap((_, at) => namer(words, at)?.places ?? [])
    .map((place) => columns[place])
    .find((column) => column?.warning)
  if (warned) return `${warned.name} ${warned.warning}`
  if (isAmbiguous) return 'its words can be understood in more than one way'
  if (!hasOperation && (named.length > 0 || cells.length > 0)) {
    const all = [...named, ...cells.map(({ value }) => value)].slice(0, 3)
    return `it names ${all.join(', ')}, but not what to compute or to show`
  }
  return 'I know its words, but not what they ask together'
}

function refuseFiles({ files }: DemoPrompt): string {
  const name = files.at(-1)?.name ?? 'the file'
  return `I cannot answer that, because I only know what ${name} is, not what it shows or means; ask for its kind, its size, or who attached it.`
}

function help({ tables }: DemoPrompt): string {
  const lines = tables.map(({ name, columns }) => {
    return `- **${name}**: ${columns.map((column) => `${column.name} (${column.type})`).join(', ')}`
  })
  const questions = tables.slice(-1).flatMap(({ columns }) => tableQuestions(columns))
  const seen =
    lines.length > 0
      ? `I see these tables:\n\n${lines.join('\n')}\n\nTry ${questions.map((one) => `“${lower(one)}”`).join(', ')}.`
      : 'Attach a table (CSV, TSV, JSON or NDJSON) and ask for a chart, such as “chart the monthly precipitation”, then “which month was the wettest?”.'
  return `I am byref’s demo model: a few rules, no AI, so that byref works without a key. ${seen}\n\nFor a real model set OPENAI_API_KEY, ANTHROPIC_API_KEY or GOOGLE_GENERATIVE_AI_API_KEY and start again.`
}
