import type { Edit } from '../../src/assets/edit/edit.ts'
import { tokensOf } from './count-tokens.ts'

/** A range of a text, end exclusive, and its replacement. */
export interface Change {
  start: number
  end: number
  text: string
}

/** Returns a text after a change. */
export function changed(text: string, { start, end, text: inserted }: Change): string {
  return text.slice(0, start) + inserted + text.slice(end)
}

/**
 * Maximum number of words on each side that may be added to make a change unique, and the number of characters in
 * which they are searched.
 */
const WORDS = 16
const REACH = 300
const WORD = /[\p{L}\p{N}]+|\r\n|[^\p{L}\p{N}\s]|\s/gu

/**
 * Returns the edit of a text with the fewest tokens. It replaces the shortest text that occurs once, or names lines by their
 * numbers.
 */
export function shortestEdit(text: string, change: Change): Edit {
  const edits = [...byText(text, change), ...byLines(text, change)]
  const costs = edits.map((edit) => tokensOf(JSON.stringify(edit)))
  const edit = edits[costs.indexOf(Math.min(...costs))]
  if (!edit) throw new Error('No edit fits the change')
  return edit
}

/** Returns edits that find a text: for each number of words to the left, the one with the fewest words to the right. */
function byText(text: string, { start, end, text: inserted }: Change): Edit[] {
  const edits: Edit[] = []
  const lefts = edgesBefore(text, start)
  const rights = edgesAfter(text, end)
  for (const left of lefts) {
    const right = rights.find((edge) => edge > left && occursOnce(text, text.slice(left, edge)))
    if (right === undefined) continue
    const before = text.slice(left, start)
    const after = text.slice(end, right)
    const find = text.slice(left, right)
    edits.push({ find: shown(find), replace: shown(before + inserted + after) })
    if (start !== end) continue
    if (before === '') edits.push({ insert: shown(inserted), before: shown(find) })
    if (after === '') edits.push({ insert: shown(inserted), after: shown(find) })
  }
  return edits
}

/** Returns edits of whole lines, if the change covers them. */
function byLines(text: string, { start, end, text: inserted }: Change): Edit[] {
  const from = text.lastIndexOf('\n', start - 1) + 1
  const first = lineOf(text, from)
  const firstLine = textOfLine(text, from)
  if (firstLine === '') return []
  if (start === end && from === start && inserted.endsWith('\n')) {
    return [{ lines: [first, first], firstLine, replace: shown(inserted) + firstLine }]
  }
  if (inserted === '' && from === start && text[end - 1] === '\n') {
    return [{ lines: [first, lineOf(text, end - 1)], firstLine, replace: '' }]
  }
  if (text.slice(start, end).includes('\n') || inserted.includes('\n')) return []
  const replace = text.slice(from, start) + inserted + textOfLine(text, end)
  return [{ lines: [first, first], firstLine, replace }]
}

/** Returns the rest of a line, without its line break. */
function textOfLine(text: string, from: number): string {
  const end = text.indexOf('\n', from)
  return text.slice(from, end < 0 ? undefined : end).replace(/\r$/, '')
}

/** The line breaks of an edit are LF, also if the document has others. */
function shown(text: string): string {
  return text.replaceAll('\r\n', '\n')
}

function lineOf(text: string, at: number): number {
  let line = 1
  for (let next = text.indexOf('\n'); next >= 0 && next < at; next = text.indexOf('\n', next + 1)) {
    line++
  }
  return line
}

function occursOnce(text: string, find: string): boolean {
  const at = text.indexOf(find)
  return at >= 0 && text.indexOf(find, at + 1) < 0
}

/** Returns where words begin before a place, nearest first. White space and punctuation count as words. */
function edgesBefore(text: string, place: number): number[] {
  const from = Math.max(0, place - REACH)
  const words = [...text.slice(from, place).matchAll(WORD)].slice(from > 0 ? 1 : 0)
  const edges = words.map(({ index }) => from + index).reverse()
  return [place, ...edges].slice(0, WORDS)
}

/** Returns where words end after a place, nearest first. */
function edgesAfter(text: string, place: number): number[] {
  const to = Math.min(text.length, place + REACH)
  const words = [...text.slice(place, to).matchAll(WORD)]
  const edges = words.map(({ 0: word, index }) => place + index + word.length)
  return [place, ...(to < text.length ? edges.slice(0, -1) : edges)].slice(0, WORDS)
}
