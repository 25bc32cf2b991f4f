import { ByrefError } from '../../core/errors.ts'
import { textStart } from '../../core/json/cut.ts'
import { isPlainObject, type JsonValue, shownJson } from '../../core/json/json.ts'

/** Replaces a text. It must occur exactly once, unless `occurrence` says which one (from 1), or `all`. */
export interface ReplaceEdit {
  find: string
  replace: string
  occurrence?: number | 'all'
}

/** Inserts a text directly before or after another one, which must occur exactly once. */
export type InsertEdit = { insert: string; before: string } | { insert: string; after: string }

/**
 * Replaces whole lines: `lines` has the first and the last one, from 1. `firstLine` is the current text of the first
 * line, as a check. An empty `replace` removes the lines.
 */
export interface LinesEdit {
  lines: [number, number]
  firstLine: string
  replace: string
}

/** One operation of JSON Patch (RFC 6902). Paths are JSON Pointers (RFC 6901) below the edited value. */
export type JsonEdit =
  | { op: 'add' | 'replace' | 'test'; path: string; value: JsonValue }
  | { op: 'remove'; path: string }
  | { op: 'move' | 'copy'; path: string; from: string }

/** The rows of a table become those of one SELECT, which names the table `rows`. */
export interface TableEdit {
  sql: string
}

/** One edit of an asset. */
export type Edit = ReplaceEdit | InsertEdit | LinesEdit | JsonEdit | TableEdit

/** Whether an edit is an operation of JSON Patch. */
export function isJsonEdit(edit: Edit): edit is JsonEdit {
  return 'op' in edit
}

/** The forms of an edit: its keys, each with a check of the value. Optional keys end with `?`. */
const FORMS: readonly Readonly<Record<string, (value: unknown) => boolean>>[] = [
  { find: isText, replace: isText, 'occurrence?': isOccurrence },
  { insert: isText, before: isText },
  { insert: isText, after: isText },
  { lines: isLines, firstLine: isText, replace: isText },
  // RFC 6902: other members of an operation are ignored.
  { op: isOneOf('add', 'replace', 'test'), path: isText, value: isJson, 'from?': isAny },
  { op: isOneOf('remove'), path: isText, 'value?': isAny, 'from?': isAny },
  { op: isOneOf('move', 'copy'), path: isText, from: isText, 'value?': isAny },
  { sql: isText },
]

/** @throws ByrefError `invalid_arguments` for anything but a list of edits */
export function checkEdits(edits: unknown): asserts edits is readonly Edit[] {
  if (!Array.isArray(edits) || edits.length === 0) {
    throw new ByrefError(
      'invalid_arguments',
      `edits must be a list with at least one edit. ${HELP}`,
    )
  }
  for (const [index, edit] of edits.entries()) {
    if (FORMS.some((form) => matches(edit, form))) continue
    throw new ByrefError(
      'invalid_arguments',
      `edits[${index}] is not an edit: ${shownJson(edit)}. ${problemOf(edit)}${HELP}`,
    )
  }
}

const HELP =
  'Use { find, replace }, { insert, before } or { insert, after }, { lines: [first, last], firstLine, replace }, a JSON Patch operation { op, path, value }, or { sql } for a table.'

function matches(edit: unknown, form: (typeof FORMS)[number]): boolean {
  return isPlainObject(edit) && problemsOf(edit, form).length === 0
}

/** Returns why an object does not have a form, one text for each key. */
function problemsOf(edit: Record<string, unknown>, form: (typeof FORMS)[number]): string[] {
  const names = Object.keys(form).map((name) => name.replace('?', ''))
  const unknown = Object.keys(edit).filter((key) => !names.includes(key))
  const wrong = Object.entries(form).flatMap(([name, accepts]) => {
    const key = name.replace('?', '')
    const value = edit[key]
    if ((name.endsWith('?') && value === undefined) || accepts(value)) return []
    if (value === undefined) return [`${key} is missing`]
    if (accepts !== isJson) return [`${key} is wrong`]
    return [`${key} is not JSON (to name a file, write {"assetRef":"asset://…"})`]
  })
  return [...wrong, ...unknown.map((key) => `${key} is not allowed`)]
}

/** Returns why an object is not an edit, compared with the form that it resembles most. */
function problemOf(edit: unknown): string {
  if (!isPlainObject(edit)) return ''
  const alike = FORMS.filter((form) => (Object.keys(form)[0] as string) in edit)
  const [problems] = alike.map((form) => problemsOf(edit, form)).sort((a, b) => a.length - b.length)
  return problems ? `${textStart(problems.join(', '), 200)}. ` : ''
}

function isAny(): boolean {
  return true
}

/** Whether a value is JSON. Undefined fields of objects are allowed: JSON leaves them out. */
function isJson(value: unknown): boolean {
  if (typeof value !== 'object') {
    return ['string', 'boolean'].includes(typeof value) || Number.isFinite(value)
  }
  if (value === null) return true
  if (Array.isArray(value)) return value.every(isJson)
  return (
    isPlainObject(value) && Object.values(value).every((one) => one === undefined || isJson(one))
  )
}

function isText(value: unknown): boolean {
  return typeof value === 'string'
}

function isOccurrence(value: unknown): boolean {
  return value === 'all' || (Number.isInteger(value) && (value as number) >= 1)
}

function isLines(value: unknown): boolean {
  if (!Array.isArray(value) || value.length !== 2) return false
  const [first, last] = value as number[]
  return (
    value.every(Number.isInteger) && (first as number) >= 1 && (last as number) >= (first as number)
  )
}

function isOneOf(...texts: string[]): (value: unknown) => boolean {
  return (value) => typeof value === 'string' && texts.includes(value)
}
