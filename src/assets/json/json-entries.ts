import { type FieldKey, indexOf } from '../../core/refs/field-key.ts'
import { nodeBuiltin } from '../../node-builtin.ts'
import { type ByteRange, chunksOf } from '../bodies/body.ts'
import type { BodyRanges } from '../content-access.ts'
import { JsonWalker, NotJsonError, unescaped } from './json-walker.ts'

const { setImmediate } = nodeBuiltin('node:timers/promises')

/** An entry of the outermost container: its key, and the byte offsets of the entry, of its value and of its end. */
export interface ScannedEntry {
  /** Null in a list. */
  key: string | null
  start: number
  valueStart: number
  end: number
}

/** Scans JSON in UTF-8 chunk by chunk and reports the entries of the outermost container. */
export class JsonScanner {
  /** The kind of the outermost value; null until it is known. */
  root: 'list' | 'object' | 'scalar' | null = null
  /** Levels of containers below the outermost one. */
  depth = 0
  readonly #walker: JsonWalker

  constructor(onEntry: (entry: ScannedEntry) => void) {
    let key: string | null = null
    let start = 0
    let valueStart = 0
    const walker = new JsonWalker(
      {
        key: (token) => {
          if (walker.level !== 1) return
          key = unescaped(Buffer.from(token.raw, 'latin1').toString())
          start = token.start
        },
        scalar: ({ start: at, end }) => {
          this.root ??= 'scalar'
          if (walker.level === 1) {
            onEntry({ key, start: key === null ? at : start, valueStart: at, end })
          }
        },
        begin: (isList, at) => {
          this.root ??= isList ? 'list' : 'object'
          this.depth = Math.max(this.depth, walker.level)
          if (walker.level === 1) valueStart = at
        },
        end: (end) => {
          if (walker.level !== 1) return
          onEntry({ key, start: key === null ? valueStart : start, valueStart, end })
        },
      },
      { keepsValues: false },
    )
    this.#walker = walker
  }

  /** @throws NotJsonError */
  write(chunk: Uint8Array): void {
    const { buffer, byteOffset, byteLength } = chunk
    this.#walker.write(Buffer.from(buffer, byteOffset, byteLength).toString('latin1'))
  }

  /** The text has ended. @throws NotJsonError */
  end(): void {
    this.#walker.end()
  }
}

/** Where the entries of a value are; of a large container only every `step`-th entry. */
export interface JsonEntries {
  kind: 'list' | 'object' | 'scalar'
  count: number
  step: number
  /** Entries 0, `step`, 2 × `step` … `hash` is the hash of the key. */
  kept: { start: number; valueStart: number; end: number; hash: number }[]
  /** The offset after the last entry. */
  end: number
  /** Levels of containers below. */
  depth: number
}

/** Maximum number of entries that are kept of one container. */
const MAX_KEPT = { list: 65_536, object: 262_144 }
/** Approximate memory of a kept entry, in bytes. */
export const KEPT_BYTES = 64
/** Bytes that are scanned between two checks of the clock. */
const SLICE = 64 * 1024
/** Milliseconds of work before other tasks of the event loop run. */
const TURN_MS = 8

/** Yields to the event loop when the work has taken long. */
export function createPauses(): () => Promise<void> | undefined {
  let since = performance.now()
  return () => {
    if (performance.now() - since < TURN_MS) return undefined
    return setImmediate().then(() => {
      since = performance.now()
    })
  }
}

/**
 * Reads through one value and keeps where its entries are. Yields to the event loop every few milliseconds.
 *
 * @throws NotJsonError if the range is not JSON
 */
export async function scanEntries(source: BodyRanges, range: ByteRange): Promise<JsonEntries> {
  let count = 0
  let step = 1
  let end = range.end
  let kept: JsonEntries['kept'] = []
  const scanner = await scan(source, range, (entry) => {
    end = entry.end
    if (count++ % step !== 0) return
    const { key, start, valueStart } = entry
    kept.push({ start, valueStart, end, hash: key === null ? 0 : hashOf(key) })
    if (kept.length <= MAX_KEPT[key === null ? 'list' : 'object']) return
    kept = kept.filter((_, i) => i % 2 === 0)
    step *= 2
  })
  scanner.end()
  const { root, depth } = scanner
  if (root === null) throw new NotJsonError()
  return { kind: root, count, step, kept, end, depth }
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
    return nthOf(source, { start: first.start, end: next }, index % step)
  }
  const name = String(key)
  if (step > 1) return lastNamed(source, range, name)
  const hash = hashOf(name)
  for (const { start, valueStart, end } of kept.filter((one) => one.hash === hash).reverse()) {
    if ((await keyIn(source, start, valueStart)) === name) return { start: valueStart, end }
  }
  return null
}

/** Returns the key that is written from `start` on; its value begins at `valueStart`. */
export async function keyIn(
  source: BodyRanges,
  start: number,
  valueStart: number,
): Promise<string> {
  const text = Buffer.from(await source.read(start, valueStart)).toString()
  return JSON.parse(text.slice(0, text.lastIndexOf('"') + 1)) as string
}

/** An object with the same keys, or a list of the same length: for errors, which name some keys and count all. */
export async function outlineOf(
  source: BodyRanges,
  { kind, count }: JsonEntries,
  range: ByteRange,
): Promise<unknown> {
  if (kind === 'scalar') return ''
  if (kind === 'list') return new Array(count)
  const keys = new Map<string, null>()
  await scan(source, range, ({ key }) => {
    keys.set(String(key), null)
  })
  return Object.fromEntries(keys)
}

/** Returns the `nth` item of a part of a list. */
async function nthOf(source: BodyRanges, part: ByteRange, nth: number): Promise<ByteRange | null> {
  let at = 0
  let found: ByteRange | null = null
  const onEntry = ({ start, end }: ScannedEntry): boolean => {
    if (at++ === nth) found = { start, end }
    return found !== null
  }
  await scan(source, part, onEntry, '[')
  return found
}

async function lastNamed(
  source: BodyRanges,
  range: ByteRange,
  name: string,
): Promise<ByteRange | null> {
  let found: ByteRange | null = null
  await scan(source, range, ({ key, valueStart, end }) => {
    if (key === name) found = { start: valueStart, end }
  })
  return found
}

/**
 * Scans a range of a body. Stops soon after `onEntry` has returned true. `opening` is what the range lacks at its
 * start.
 */
async function scan(
  source: BodyRanges,
  range: ByteRange,
  onEntry: (entry: ScannedEntry) => unknown,
  opening = '',
): Promise<JsonScanner> {
  const moved = range.start - opening.length
  let isDone = false
  const scanner = new JsonScanner(({ key, start, valueStart, end }) => {
    const place = { start: start + moved, valueStart: valueStart + moved, end: end + moved }
    if (onEntry({ key, ...place }) === true) isDone = true
  })
  scanner.write(Buffer.from(opening))
  const pause = createPauses()
  for await (const chunk of chunksOf(await source.open(range))) {
    for (let at = 0; at < chunk.length; at += SLICE) {
      scanner.write(chunk.subarray(at, at + SLICE))
      if (isDone) return scanner
      await pause()
    }
  }
  return scanner
}

/** FNV-1a of a key's UTF-16 units. */
function hashOf(key: string): number {
  let hash = 0x811c9dc5
  for (let i = 0; i < key.length; i++) hash = Math.imul(hash ^ key.charCodeAt(i), 0x01000193)
  return hash >>> 0
}
