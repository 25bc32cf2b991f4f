import { cutMark } from '../../core/json/cut.ts'
import { type FieldKey, indexOf } from '../../core/refs/field-key.ts'
import { SHOWN_KEYS } from '../../core/refs/field-path.ts'
import { type ByteRange, chunksOf } from '../bodies/body.ts'
import { bufferOf } from '../bodies/buffer-of.ts'
import type { BodyRanges } from '../content-access.ts'
import { createPauses } from '../pauses.ts'
import {
  type JsonToken,
  type JsonVisitor,
  JsonWalker,
  NotJsonError,
  unescaped,
} from './json-walker.ts'

/** An entry of a container: its key, and the byte offsets of the entry, of its value and of its end. */
export interface ScannedEntry {
  /** Null in a list. */
  key: string | null
  start: number
  valueStart: number
  end: number
}

/** Which container's entries a {@link JsonScanner} reports. */
export interface ScannedContainer {
  /** The keys and indices that lead to the container. Default: none, which means the outermost one. */
  path?: readonly string[]
  /** A value on the path begins. Of a repeated key, the last value counts. */
  onStep?(): void
  onBegin?(isList: boolean, start: number): void
  onEnd?(end: number): void
}

/** A container on the path that is open, and the entry in it that is being read. */
interface OpenContainer {
  isList: boolean
  /** Number of entries before the current one. */
  index: number
  key: string | null
  start: number
  valueStart: number
}

const BEYOND_ASCII = /[\x80-\xff]/

/** Scans JSON in UTF-8 chunk by chunk and reports the entries of one container. */
export class JsonScanner implements JsonVisitor {
  /** The kind of the outermost value; null until it is known. */
  root: 'list' | 'object' | 'scalar' | null = null
  /** The byte offsets of the outermost value. */
  rootRange: ByteRange = { start: 0, end: 0 }
  /** Levels of containers below the outermost one. */
  depth = 0
  readonly #walker = new JsonWalker(this, { keepsValues: false })
  readonly #onEntry: (entry: ScannedEntry) => void
  readonly #path: readonly string[]
  readonly #container: ScannedContainer
  readonly #open: OpenContainer[] = []

  constructor(onEntry: (entry: ScannedEntry) => void, container: ScannedContainer = {}) {
    this.#onEntry = onEntry
    this.#path = container.path ?? []
    this.#container = container
  }

  /** @throws NotJsonError */
  write(chunk: Uint8Array): void {
    this.#walker.write(bufferOf(chunk).toString('latin1'))
  }

  /** The text has ended. @throws NotJsonError */
  finish(): void {
    this.#walker.end()
  }

  key({ raw, start }: JsonToken): void {
    const parent = this.#parent()
    if (!parent) return
    // Text is read as Latin-1, and its bytes are UTF-8.
    parent.key = unescaped(BEYOND_ASCII.test(raw) ? Buffer.from(raw, 'latin1').toString() : raw)
    parent.start = start
  }

  scalar({ start, end }: JsonToken): void {
    this.root ??= 'scalar'
    this.#beginValue(start)
    this.#endValue(end)
  }

  begin(isList: boolean, start: number): void {
    this.root ??= isList ? 'list' : 'object'
    this.depth = Math.max(this.depth, this.#walker.level)
    if (!this.#beginValue(start)) return
    this.#open.push({ isList, index: 0, key: null, start: 0, valueStart: 0 })
    if (this.#isAtEnd()) this.#container.onBegin?.(isList, start)
  }

  end(end: number): void {
    if (this.#open.length > this.#walker.level) {
      if (this.#isAtEnd()) this.#container.onEnd?.(end)
      this.#open.pop()
    }
    this.#endValue(end)
  }

  /** Returns whether the path leads to the value that begins, or through it. */
  #beginValue(start: number): boolean {
    if (this.#walker.level === 0) {
      this.rootRange.start = start
      return true
    }
    const parent = this.#parent()
    if (!parent) return false
    parent.valueStart = start
    if (parent.isList) parent.start = start
    if (this.#isAtEnd()) return false
    const key = parent.isList ? String(parent.index) : parent.key
    const isStep = key === this.#path[this.#open.length - 1]
    if (isStep) this.#container.onStep?.()
    return isStep
  }

  #endValue(end: number): void {
    if (this.#walker.level === 0) this.rootRange.end = end
    const parent = this.#parent()
    if (!parent) return
    parent.index++
    const { key, start, valueStart } = parent
    if (this.#isAtEnd()) this.#onEntry({ key, start, valueStart, end })
  }

  /** Returns the container of the current value; undefined if it is not on the path. */
  #parent(): OpenContainer | undefined {
    return this.#open.length === this.#walker.level ? this.#open.at(-1) : undefined
  }

  /** Returns whether the last open container on the path is the one at its end. */
  #isAtEnd(): boolean {
    return this.#open.length === this.#path.length + 1
  }
}

/** Where the entries of a value are; of a large container only every `step`-th entry. */
export interface JsonEntries {
  kind: 'list' | 'object' | 'scalar'
  count: number
  step: number
  /** Entries 0, `step`, 2 × `step` … */
  kept: ScannedEntry[]
  /** Number of characters of the kept keys. */
  keyChars: number
  /** The offset after the last entry. */
  end: number
  /** Levels of containers below. */
  depth: number
}

/** Maximum number of entries that are kept of one container. */
const MAX_KEPT = { list: 65_536, object: 262_144 }

/** Maximum number of characters of the keys that are kept of one container. */
const MAX_KEY_CHARS = 32 * 1024 * 1024

/** Approximate memory of a kept entry without its key, in bytes. */
export const KEPT_BYTES = 64

/** Bytes that are scanned between two checks of the clock. */
const SLICE = 64 * 1024

/**
 * Reads through one value and keeps where its entries are. Yields to the event loop every few milliseconds.
 *
 * @throws NotJsonError if the range is not JSON
 */
export async function scanEntries(source: BodyRanges, range: ByteRange): Promise<JsonEntries> {
  let count = 0
  let step = 1
  let end = range.end
  let kept: ScannedEntry[] = []
  let keyChars = 0
  const scanner = await scan(source, range, (entry) => {
    end = entry.end
    if (count++ % step !== 0) return
    const { key } = entry
    kept.push(entry)
    keyChars += key?.length ?? 0
    const most = MAX_KEPT[key === null ? 'list' : 'object']
    if (kept.length <= most && keyChars <= MAX_KEY_CHARS) return
    kept = kept.filter((_, i) => i % 2 === 0)
    keyChars = kept.reduce((sum, one) => sum + (one.key?.length ?? 0), 0)
    step *= 2
  })
  scanner.finish()
  const { root, depth } = scanner
  if (root === null) throw new NotJsonError()
  return { kind: root, count, step, kept, keyChars, end, depth }
}

/** Returns where the value of an entry is; null if there is no such entry. Of a repeated key the last entry counts. */
export async function findEntry(
  source: BodyRanges,
  { entries, range, key }: { entries: JsonEntries; range: ByteRange; key: FieldKey },
): Promise<ByteRange | null> {
  const { kind, count, step, kept } = entries
  if (kind === 'scalar') return null
  if (kind === 'list') {
    const index = indexOf(key)
    if (index < 0 || index >= count) return null
    const first = kept[Math.floor(index / step)] as ByteRange
    if (index % step === 0) return { start: first.start, end: first.end }
    const next = kept[Math.floor(index / step) + 1]?.start ?? range.end
    const part = { start: first.start, end: next, opening: '[' }
    return scanFor(source, part, (_, at) => at === index % step)
  }
  const name = String(key)
  if (step > 1) return scanFor(source, range, (entry) => entry.key === name)
  const found = kept.findLast((one) => one.key === name)
  return found ? { start: found.valueStart, end: found.end } : null
}

/**
 * Returns a small value in place of a large one, for errors: a list of the same length, or an object with some of the
 * keys and a mark with their number. Without a scan, because a large object may have millions of keys.
 */
export function outlineOf({ kind, count, step, kept }: JsonEntries): unknown {
  if (kind === 'scalar') return ''
  if (kind === 'list') return new Array(count)
  const keys = new Set(kept.map(({ key }) => key))
  // Keys may repeat.
  const mark = cutMark(step === 1 ? keys.size : count, 'items')
  const shown = [...keys].slice(0, SHOWN_KEYS)
  return Object.fromEntries([...shown, mark].map((key) => [key, null]))
}

/** Scans a range of a body, and returns where the value of the last wanted entry is; null if no entry is wanted. */
async function scanFor(
  source: BodyRanges,
  range: ScannedRange,
  isWanted: (entry: ScannedEntry, index: number) => boolean,
): Promise<ByteRange | null> {
  let index = 0
  let found: ByteRange | null = null
  await scan(source, range, (entry) => {
    if (isWanted(entry, index++)) found = { start: entry.valueStart, end: entry.end }
  })
  return found
}

interface ScannedRange extends ByteRange {
  /** What the range lacks at its start. Default: nothing. */
  opening?: string
}

async function scan(
  source: BodyRanges,
  { opening = '', ...range }: ScannedRange,
  onEntry: (entry: ScannedEntry) => void,
): Promise<JsonScanner> {
  const moved = range.start - opening.length
  const scanner = new JsonScanner(({ key, start, valueStart, end }) => {
    onEntry({ key, start: start + moved, valueStart: valueStart + moved, end: end + moved })
  })
  scanner.write(Buffer.from(opening))
  const pause = createPauses()
  for await (const chunk of chunksOf(await source.open(range))) {
    for (let at = 0; at < chunk.length; at += SLICE) {
      scanner.write(chunk.subarray(at, at + SLICE))
      await pause()
    }
  }
  return scanner
}
