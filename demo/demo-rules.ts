import type { LanguageModelV4Prompt } from '@ai-sdk/provider'
import type { ModelAnswer } from '../src/models/answer-stream.ts'
import { type DemoPrompt, type DemoResult, type DemoRows, readDemoPrompt } from './demo-prompt.ts'
import {
  askedGroup,
  askedInterval,
  askedLimit,
  askedMeasure,
  askedOrder,
  askedSubject,
  asksForChart,
  namedColumn,
} from './demo-words.ts'

const CHART = 'chart_rows'
const RANK = 'rank_rows'
/** Types of columns that can be measured. */
const NUMERIC: ReadonlySet<string> = new Set(['number', 'integer', 'decimal'])
const UNANSWERED =
  'No table here and nothing that was made of one has what that asks for, so I cannot answer it. '

/** The next answer to a prompt, given the names of the tools that may be called. */
export function demoAnswer(prompt: LanguageModelV4Prompt, tools: ReadonlySet<string>): ModelAnswer {
  const read = readDemoPrompt(prompt)
  const last = read.results.at(-1)
  if (last?.error) return { text: `The call of \`${last.tool}\` failed. ${last.error}` }
  if (last?.tool === RANK) return { text: tellRanking(last) }
  const order = askedOrder(read.question)
  const wantsChart = asksForChart(read.question)
  if (last?.tool === CHART && (wantsChart || order === null)) return { text: tellChart(last) }
  if (order && !wantsChart && tools.has(RANK)) {
    const isCharted = last?.tool === CHART
    const call = rankCall(read, order) ?? (tools.has(CHART) && !isCharted ? chartCall(read) : null)
    return call ?? { text: help(read, UNANSWERED) }
  }
  if ((wantsChart || askedGroup(read.question)) && tools.has(CHART)) {
    const call = chartCall(read)
    if (call) return call
  }
  return { text: help(read) }
}

/** Ranks the newest summary that has what the question asks about; null where none has all of it. */
function rankCall(
  { question, summaries, tables }: DemoPrompt,
  order: 'highest' | 'lowest',
): ModelAnswer | null {
  const subject = askedSubject(question)
  const isMeasureNamed = tables.some((table) => namedColumn(question, numeric(table)))
  const rows = summaries.findLast((one) => {
    const hasSubject = subject === null || namedColumn(subject, one.columns) !== null
    const hasMeasure = !isMeasureNamed || namedColumn(question, numeric(one)) !== null
    return numeric(one).length > 0 && hasSubject && hasMeasure
  })
  if (!rows) return null
  const by = namedColumn(question, numeric(rows)) ?? numeric(rows).at(-1)
  const limit = askedLimit(question)
  return {
    text: `I will look that up in \`${rows.ref}\`.`,
    calls: [{ name: RANK, arguments: { rows: rows.ref, by: by?.name, order, limit } }],
  }
}

function numeric({ columns }: DemoRows): DemoRows['columns'] {
  return columns.filter(({ type }) => NUMERIC.has(type))
}

/** Charts the newest table that has the columns that the question names. */
function chartCall({ question, tables, summaries }: DemoPrompt): ModelAnswer | null {
  const subject = askedSubject(question)
  const able = tables.filter(({ columns }) => subject === null || canGroup(subject, columns))
  const table = able.findLast(({ columns }) => namedColumn(question, columns)) ?? able.at(-1)
  if (!table) return null
  const group = groupOf(question, table)
  const others = table.columns.filter(({ name }) => name !== group.column)
  const numbers = others.filter(({ type }) => NUMERIC.has(type))
  const named = namedColumn(question, numbers)
  const value = named ?? numbers[0]
  const measure = askedMeasure(question) ?? (value ? 'sum' : 'count')
  const label = [group.interval ?? group.column, measure, measure === 'count' ? '' : value?.name]
  const isGuess = !named && measure !== 'count' && numbers.length > 1
  const guess = isGuess
    ? ` The question names none of ${numbers.map(({ name }) => name).join(', ')}; I take the first.`
    : ''
  const key = freshKey(label.filter(Boolean).join('_'), summaries)
  return {
    text: `I will chart ${measure === 'count' ? 'the count' : `the ${measure} of ${value?.name}`} by ${group.interval ?? group.column} from ${table.name}, passing the rows by reference.${guess}`,
    calls: [
      {
        name: CHART,
        arguments: {
          rows: table.ref,
          group_by: group.column,
          ...(group.interval ? { interval: group.interval } : {}),
          ...(measure === 'count' ? {} : { value: value?.name }),
          measure,
          _outputPath: `†state.${key}`,
        },
      },
    ],
  }
}

/** What to group by: the column behind "by", a date by the interval asked for, else the first column of text. */
function groupOf(
  question: string,
  { columns }: DemoRows,
): { column: string; interval?: 'day' | 'month' | 'year' } {
  const interval = askedInterval(question)
  const behindBy = askedGroup(question) ?? askedSubject(question)
  const named = behindBy ? namedColumn(behindBy, columns) : null
  const date = columns.find(({ type }) => type === 'date')
  const chosen = named ?? (interval ? date : undefined) ?? fallbackGroup(question, columns)
  if (chosen.type !== 'date') return { column: chosen.name }
  return { column: chosen.name, interval: interval ?? 'month' }
}

/** Whether a table has groups of what a question asks for: a column of that name, or dates for an interval. */
function canGroup(subject: string, columns: DemoRows['columns']): boolean {
  if (namedColumn(subject, columns)) return true
  return askedInterval(subject) !== null && columns.some(({ type }) => type === 'date')
}

function fallbackGroup(question: string, columns: DemoRows['columns']): DemoRows['columns'][0] {
  const labels = columns.filter(({ type }) => type !== 'number')
  const first = labels[0] ?? columns[0] ?? { name: '', type: 'text' }
  return namedColumn(question, labels) ?? labels.find(({ type }) => type === 'date') ?? first
}

/** A name for the summary that the data do not have yet. */
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

function tellChart({ input, value }: DemoResult): string {
  const shown = findPicture(value)
  const result = (value?.value ?? value?.preview ?? value) as { title?: unknown } | null
  const title = String(result?.title ?? `${input.measure} by ${input.interval ?? input.group_by}`)
  const picture = shown ? `![${title}](<|${shown}|>)\n\n` : ''
  return `${picture}The chart is made of rows passed by reference; its summary is kept as \`${input._outputPath}.rows\`, where later questions read it.`
}

function tellRanking({ input, value }: DemoResult): string {
  const rows = Array.isArray(value?.rows) ? (value.rows as Record<string, unknown>[]) : []
  const by = String(input.by)
  const lines = rows.map((row) => {
    const rest = Object.entries(row).filter(([key]) => key !== by)
    const name = rest.map(([, item]) => String(item)).join(', ') || 'One row'
    return `**${name}** with ${by} ${row[by]}`
  })
  if (lines.length === 0) return `No row of \`${input.rows}\` has a value in ${by}.`
  const which = `the ${input.order} ${by} of ${value?.of ?? '?'} rows in \`${input.rows}\``
  return lines.length === 1
    ? `${lines[0]}: ${which}.`
    : `By ${which}:\n\n${lines.map((line) => `1. ${line}`).join('\n')}`
}

/** The first reference to a picture in a result, however deep. */
function findPicture(value: unknown): string | null {
  if (typeof value !== 'object' || value === null) return null
  const { assetRef, mimeType } = value as { assetRef?: unknown; mimeType?: unknown }
  // Of what can be seen the type stands beside the result, not in it.
  if (typeof assetRef === 'string' && mimeType === undefined) return assetRef
  for (const item of Object.values(value)) {
    const found = findPicture(item)
    if (found) return found
  }
  return null
}

function help({ tables }: DemoPrompt, refusal = ''): string {
  const lines = tables.map(({ name, columns }) => {
    return `- **${name}**: ${columns.map((column) => `${column.name} (${column.type})`).join(', ')}`
  })
  const seen =
    lines.length > 0
      ? `I see these tables:\n\n${lines.join('\n')}${suggestion(tables)}`
      : 'Attach a table (CSV, TSV, JSON or NDJSON) and ask for a chart, such as “chart the monthly precipitation”, then “which month was the wettest?”.'
  return `${refusal}I am byref’s demo model: a few rules, no AI, so that byref works without a key. ${seen}\n\nFor a real model set OPENAI_API_KEY, ANTHROPIC_API_KEY or GOOGLE_GENERATIVE_AI_API_KEY and start again.`
}

/** A question that can be answered of the newest table with something to measure and something to group by. */
function suggestion(tables: readonly DemoRows[]): string {
  for (const { columns } of tables.toReversed()) {
    const value = columns.find(({ type }) => type === 'number')
    const group = columns.find(({ type }) => type !== 'number')
    if (!value || !group) continue
    return `\n\nTry “chart the average ${value.name} by ${group.name}”, then “which was the highest?”.`
  }
  return ''
}
