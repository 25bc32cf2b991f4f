import { createHash } from 'node:crypto'
import type { Edit } from '../../src/assets/edit/edit.ts'
import { type JsonPlaceInText, jsonPlaces } from './json-places.ts'
import { type Change, changed, shortestEdit } from './shortest-edit.ts'

/** One edit of a document, and the text that must result. */
export interface PlannedEdit {
  edit: Edit
  before: string
  after: string
  /** Characters of `before` that the edit replaces. */
  replaced: number
}

/**
 * Plans edits of a text: words, numbers and lines, in JSON values and items. The same text always gets the same
 * edits. The second half undoes the first half, in reverse order.
 */
export function planEdits(text: string, kind: string, count: number): PlannedEdit[] {
  const random = randomFor(text)
  const forth: PlannedEdit[] = []
  const back: PlannedEdit[] = []
  let now = text
  for (let i = 0; i < count; i++) {
    const { to, fro } = planOne(now, kind, { i, random })
    forth.push(to)
    back.unshift(fro)
    now = to.after
  }
  return [...forth, ...back]
}

interface Turn {
  /** The number of the edit, from 0. */
  i: number
  random: (limit: number) => number
}

interface Both {
  to: PlannedEdit
  fro: PlannedEdit
}

/** Plans the edit of a turn and its inverse. */
function planOne(text: string, kind: string, turn: Turn): Both {
  if (kind === 'JSON') return jsonEdit(text, turn)
  const makers = [changeWord, changeNumber, insertLine, removeLine]
  for (let attempt = 0; attempt < 200; attempt++) {
    const make = makers[(turn.i + Math.floor(attempt / 50)) % makers.length] as typeof changeWord
    const change = make(text, turn)
    if (change) return withInverse(text, change)
  }
  throw new Error('No edit fits the text')
}

function withInverse(before: string, change: Change): Both {
  const after = changed(before, change)
  const { start, end, text } = change
  const inverse = { start, end: start + text.length, text: before.slice(start, end) }
  const to = { edit: shortestEdit(before, change), before, after, replaced: end - start }
  const fro = shortestEdit(after, inverse)
  return { to, fro: { edit: fro, before: after, after: before, replaced: text.length } }
}

/** Replaces a word by another one of the document. */
function changeWord(text: string, turn: Turn): Change | null {
  const place = matchNear(text, /(?<!\p{L})\p{L}{4,}/gu, turn)
  const other = matchNear(text, /(?<!\p{L})\p{L}{4,}/gu, turn)
  if (!place || !other || place[0] === other[0]) return null
  return { start: place.index, end: place.index + place[0].length, text: other[0] }
}

/** Adds to a number. */
function changeNumber(text: string, turn: Turn): Change | null {
  const place = matchNear(text, /(?<![\w.])\d+(?:\.\d+)?(?![\w.])/g, turn)
  if (!place) return null
  const [whole = '', part] = place[0].split('.')
  const next = (BigInt(whole) + BigInt(1 + turn.random(9))).toString()
  const value = part === undefined ? next : `${next}.${part}`
  return { start: place.index, end: place.index + place[0].length, text: value }
}

/** Inserts a line of the document again at another place, with another word or number. */
function insertLine(text: string, turn: Turn): Change | null {
  const source = lineNear(text, turn)
  const place = lineNear(text, turn)
  if (!source || !place) return null
  const line = text.slice(source.start, source.end)
  const change = changeNumber(line, turn) ?? changeWord(line, turn)
  if (!change) return null
  return { start: place.start, end: place.start, text: changed(line, change) }
}

function removeLine(text: string, turn: Turn): Change | null {
  const line = lineNear(text, turn)
  return line && { ...line, text: '' }
}

/** Returns a match after a random place; null if there is none. */
function matchNear(text: string, pattern: RegExp, { random }: Turn): RegExpExecArray | null {
  pattern.lastIndex = wholeCharacter(text, random(text.length))
  const found = pattern.exec(text)
  if (found) return found
  pattern.lastIndex = 0
  return pattern.exec(text)
}

function wholeCharacter(text: string, at: number): number {
  return /[\udc00-\udfff]/.test(text[at] ?? '') ? at - 1 : at
}

/** Returns a line after a random place, with its line break. It is not blank, not the last one, and not very long. */
function lineNear(text: string, { random }: Turn): { start: number; end: number } | null {
  const start = text.indexOf('\n', random(text.length)) + 1
  const end = text.indexOf('\n', start) + 1
  const isFit = start > 0 && end < text.length && end - start > 4 && end - start < 400
  return isFit && text.slice(start, end).trim() !== '' ? { start, end } : null
}

/** Replaces a value, or removes or adds an item of a list. */
function jsonEdit(text: string, turn: Turn): Both {
  const places = jsonPlaces(text)
  const items = turn.i % 4 === 3 ? places.filter((place) => isRemovable(text, place)) : []
  const item = items[turn.random(items.length)]
  if (item) return turn.i % 8 === 3 ? removeItem(text, item) : repeatItem(text, item)
  const scalars = places.filter((place) => place.isScalar && isCanonical(text, place))
  const place = scalars[turn.random(scalars.length)] as JsonPlaceInText
  const old = JSON.parse(text.slice(place.start, place.end)) as string | number | boolean | null
  return replaceValue(text, place, otherValue(old, turn))
}

function otherValue(old: string | number | boolean | null, { random }: Turn) {
  if (typeof old === 'number') return old + 1 + random(9)
  if (typeof old === 'string') return `${old} (${random(100)})`
  return old === null ? 0 : !old
}

function replaceValue(before: string, place: JsonPlaceInText, value: unknown): Both {
  const { pointer: path, start, end } = place
  const old = before.slice(start, end)
  const text = JSON.stringify(value)
  const after = changed(before, { start, end, text })
  const edit = (value: unknown) => ({ op: 'replace', path, value }) as Edit
  return {
    to: { edit: edit(value), before, after, replaced: end - start },
    fro: { edit: edit(JSON.parse(old)), before: after, after: before, replaced: text.length },
  }
}

function removeItem(before: string, { pointer: path, ...place }: JsonPlaceInText): Both {
  const { start, end } = withComma(place)
  const value = JSON.parse(before.slice(place.start, place.end))
  const after = changed(before, { start, end, text: '' })
  return {
    to: { edit: { op: 'remove', path }, before, after, replaced: end - start },
    fro: { edit: { op: 'add', path, value }, before: after, after: before, replaced: 0 },
  }
}

/** Adds an item before itself. */
function repeatItem(before: string, { pointer: path, ...place }: JsonPlaceInText): Both {
  const { start, end } = withComma(place)
  const value = JSON.parse(before.slice(place.start, place.end))
  const after = changed(before, { start, end: start, text: before.slice(start, end) })
  return {
    to: { edit: { op: 'add', path, value }, before, after, replaced: 0 },
    fro: { edit: { op: 'remove', path }, before: after, after: before, replaced: end - start },
  }
}

/** Returns an item with the comma after it. The last item includes the comma before it. */
function withComma({ start, end, siblings }: Omit<JsonPlaceInText, 'pointer'>): {
  start: number
  end: number
} {
  const index = siblings?.findIndex((one) => one.start === start) ?? -1
  const next = siblings?.[index + 1]
  return next ? { start, end: next.start } : { start: siblings?.[index - 1]?.end ?? start, end }
}

/** Returns whether an item of a list of at least three is written as `JSON.stringify` writes it. */
function isRemovable(text: string, place: JsonPlaceInText): boolean {
  return (place.siblings?.length ?? 0) >= 3 && isCanonical(text, place)
}

function isCanonical(text: string, { start, end }: JsonPlaceInText): boolean {
  if (end - start > 1000) return false
  const raw = text.slice(start, end)
  const line = text.slice(text.lastIndexOf('\n', start) + 1, start)
  const indent = /^[ \t]*/.exec(line)?.[0] ?? ''
  const value: unknown = JSON.parse(raw)
  if (!text.includes('\n')) return raw === JSON.stringify(value)
  const unit = indent.includes('\t') ? '\t' : '  '
  return raw === JSON.stringify(value, null, unit).replaceAll('\n', `\n${indent}`)
}

/** Returns random numbers that depend on the text alone. */
function randomFor(text: string): (limit: number) => number {
  let state = createHash('sha256').update(text).digest().readUInt32LE()
  return (limit) => {
    // mulberry32
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) % Math.max(1, limit)
  }
}
