import { ByrefError } from '../../core/errors.ts'
import { type JsonToken, JsonWalker, NotJsonError, unescaped } from '../json/json-walker.ts'
import type { Draft } from './draft.ts'

/** An entry of a container. Offsets are in bytes, ends exclusive. */
export interface JsonEntry {
  /** Where its key begins; for an item of a list, its value. */
  start: number
  valueStart: number
  end: number
}

/** The container that the last step of a JSON Pointer leads into, with the entries around the place. */
export interface JsonContainer {
  isList: boolean
  /** From its bracket to after its closing bracket. */
  start: number
  end: number
  count: number
  first: JsonEntry | null
  second: JsonEntry | null
  last: JsonEntry | null
  /** The entries of this key or index, in order. A repeated key has several. The last one counts. */
  found: JsonEntry[]
  /** The entries directly before and after each of `found`. */
  before: (JsonEntry | null)[]
  after: (JsonEntry | null)[]
}

/** What a JSON Pointer names. */
export interface JsonPlace {
  /** Null for the whole document. */
  container: JsonContainer | null
  /** The value; null if it does not exist. */
  value: { start: number; end: number } | null
}

/** Finds what a JSON Pointer names, and checks that the draft is JSON. Returns null if a container on the way is missing. */
export async function findPlace(
  draft: Draft,
  pointer: readonly string[],
): Promise<JsonPlace | null> {
  const finder = new PlaceFinder(pointer)
  const walker = new JsonWalker(finder, { keepsValues: false })
  try {
    let isFirst = true
    for await (const chunk of draft.chunks()) {
      const text = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength).toString('latin1')
      // A byte order mark in UTF-8 counts as white space.
      walker.write(isFirst ? text.replace(/^\xef\xbb\xbf/, '   ') : text)
      isFirst = false
    }
    walker.end()
  } catch (error) {
    if (!(error instanceof NotJsonError)) throw error
    throw new ByrefError(
      'asset_unsupported',
      'The asset is not JSON in UTF-8 (comments and trailing commas are not JSON), so JSON operations cannot edit it. Edit its text with find and replace.',
    )
  }
  return finder.place()
}

/** Splits a JSON Pointer (RFC 6901) into its steps. @throws ByrefError `invalid_arguments` */
export function pointerSteps(pointer: string): string[] {
  if (pointer === '') return []
  if (!pointer.startsWith('/') || /~(?![01])/.test(pointer)) {
    throw new ByrefError(
      'invalid_arguments',
      `${JSON.stringify(pointer)} is not a JSON Pointer: write "/rows/0/name", with ~1 for "/" and ~0 for "~".`,
    )
  }
  const steps = pointer.slice(1).split('/')
  return steps.map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'))
}

interface Level {
  isList: boolean
  start: number
  count: number
  /** Whether it is on the way of the pointer. */
  isOnPath: boolean
}

/** Follows a pointer while a JSON text is read. Of a repeated key, the last one counts. */
class PlaceFinder {
  readonly #steps: readonly string[]
  readonly #levels: Level[] = []
  /** The entry that is being read, if its container is the last one of the pointer. */
  #keyStart = -1
  #key: string | null = null
  #container: JsonContainer | null = null
  #root: { start: number; end: number } | null = null
  #rootStart = 0
  #open: JsonEntry | null = null
  #isMatch = false

  constructor(steps: readonly string[]) {
    this.#steps = steps
  }

  place(): JsonPlace | null {
    if (this.#steps.length === 0) return { container: null, value: this.#root }
    if (this.#container === null) return null
    const entry = this.#container.found.at(-1)
    return {
      container: this.#container,
      value: entry ? { start: entry.valueStart, end: entry.end } : null,
    }
  }

  key({ raw, start }: JsonToken): void {
    const level = this.#levels.at(-1) as Level
    if (!level.isOnPath) return
    this.#keyStart = start
    // Keys are read as Latin-1: their bytes are UTF-8.
    this.#key = unescaped(Buffer.from(raw, 'latin1').toString())
  }

  scalar({ start, end }: JsonToken): void {
    this.#beginValue(start)
    this.#endValue(start, end)
  }

  begin(isList: boolean, start: number): void {
    const isOnPath = this.#beginValue(start)
    const depth = this.#levels.length
    this.#levels.push({ isList, start, count: 0, isOnPath })
    if (isOnPath && depth === this.#steps.length - 1) {
      const around = { first: null, second: null, last: null, found: [], before: [], after: [] }
      this.#container = { isList, start, end: start, count: 0, ...around }
    }
  }

  end(end: number): void {
    const { start, isOnPath } = this.#levels.pop() as Level
    const depth = this.#levels.length
    if (isOnPath && depth === this.#steps.length - 1 && this.#container) this.#container.end = end
    this.#endValue(start, end)
  }

  /** Returns whether the value that begins is on the way of the pointer. */
  #beginValue(start: number): boolean {
    const depth = this.#levels.length
    if (depth === 0) {
      this.#rootStart = start
      return this.#steps.length > 0
    }
    const level = this.#levels.at(-1) as Level
    if (!level.isOnPath || depth > this.#steps.length) return false
    const key = level.isList ? String(level.count) : this.#key
    level.count++
    const isMatch = key === this.#steps[depth - 1]
    if (depth === this.#steps.length) {
      const open = { start: level.isList ? start : this.#keyStart, valueStart: start, end: start }
      this.#open = open
      this.#isMatch = isMatch
      return false
    }
    // Another value of a repeated key replaces what was found in the one before.
    if (isMatch) this.#container = null
    return isMatch
  }

  #endValue(start: number, end: number): void {
    const depth = this.#levels.length
    if (depth === 0) {
      this.#root = { start: this.#rootStart, end }
      return
    }
    const { container, open } = { container: this.#container, open: this.#open }
    if (depth !== this.#steps.length || !container || !open || open.valueStart !== start) return
    if (!(this.#levels.at(-1) as Level).isOnPath) return
    const entry = { ...open, end }
    this.#open = null
    if (container.last === container.found.at(-1) && container.found.length > 0) {
      container.after[container.found.length - 1] = entry
    }
    if (this.#isMatch) {
      container.found.push(entry)
      container.before.push(container.last)
      container.after.push(null)
    }
    if (container.count === 0) container.first = entry
    if (container.count === 1) container.second = entry
    container.last = entry
    container.count++
  }
}
