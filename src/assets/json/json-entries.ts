import { type FieldKey, indexOf } from '../../core/refs/field-key.ts'
import { nodeBuiltin } from '../../node-builtin.ts'
import { chunksOf } from '../bodies/body.ts'
import type { ByteRange } from '../bodies/byte-range.ts'
import type { BodyRanges } from '../content-access.ts'
import { createJsonScanner, type ScannedEntry } from './json-scanner.ts'
import { NotJsonError } from './not-json-error.ts'

const { setImmediate } = nodeBuiltin('node:timers/promises')

/** A body of JSON. */
type JsonSource = Pick<BodyRanges, 'open'>

/** Where the entries of a value are; of a large one of every `step`-th entry. */
export interface JsonEntries {
  kind: 'list' | 'object' | 'scalar'
  count: number
  step: number
  /** Of entries 0, `step`, 2 × `step` …; the hashes of keys are left out where there are too many. */
  kept: { start: number; valueStart: number; end: number; hash: number }[]
  hasHashes: boolean
  /** Behind the last entry. */
  end: number
  /** Levels of containers below. */
  depth: number
}

/** Entries that are kept of one container. */
const MAX_KEPT = { list: 65_536, object: 262_144 }
/** Bytes of memory for each of them, about. */
export const KEPT_BYTES = 64
/** Bytes that are scanned without a look at the time. */
const SLICE = 64 * 1024
/** Milliseconds of work before others have their turn. */
const TURN_MS = 8

/** Lets others have their turn where the work has taken long. */
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
 * Reads through one value, and keeps where its entries are. Nobody else waits longer than some milliseconds meanwhile.
 *
 * @throws NotJsonError where the range is no JSON
 */
export async function scanEntries(source: JsonSource, range: ByteRange): Promise<JsonEntries> {
  const found: JsonEntries = {
    ...{ kind: 'scalar', count: 0, step: 1, kept: [], hasHashes: true },
    ...{ end: range.end, depth: 0 },
  }
  const scanner = createJsonScanner(({ key, start, valueStart, end }) => {
    found.end = range.start + end
    if (found.count++ % found.step !== 0) return
    const hash = key === null ? 0 : hashOf(key)
    const [at, valueAt] = [range.start + start, range.start + valueStart]
    found.kept.push({ start: at, valueStart: valueAt, end: found.end, hash })
    if (found.kept.length <= MAX_KEPT[key === null ? 'list' : 'object']) return
    found.kept = found.kept.filter((_, i) => i % 2 === 0)
    found.step *= 2
    found.hasHashes = false
  })
  await feed(source, range, (bytes) => {
    scanner.write(bytes)
    return false
  })
  scanner.end()
  const { root, depth } = scanner
  if (root === null) throw new NotJsonError()
  return { ...found, kind: root, depth }
}

/** Where the value of an entry is; null for none. Of keys that come twice the last one counts. */
export async function findEntry(
  source: JsonSource,
  { entries, range, key }: { entries: JsonEntries; range: ByteRange; key: FieldKey },
): Promise<ByteRange | null> {
  const { kind, count, step, kept, hasHashes } = entries
  if (kind === 'scalar') return null
  if (kind === 'list') {
    const index = indexOf(key)
    if (index < 0 || index >= count) return null
    const at = Math.floor(index / step)
    const group = { start: kept[at]?.start ?? 0, end: kept[at + 1]?.start ?? range.end }
    return nthOf(source, group, index % step, kept[at])
  }
  const name = String(key)
  if (!hasHashes) return lastNamed(source, range, name)
  const hash = hashOf(name)
  for (const { start, valueStart, end } of kept.filter((one) => one.hash === hash).reverse()) {
    const [entry] = await scanSome(source, { start, end: valueStart }, '{', 'null,')
    if (entry?.key === name) return { start: valueStart, end }
  }
  return null
}

/** The keys of an object, or a list that is as long: for errors, which name some and count all. */
export async function outlineOf(
  source: JsonSource,
  { kind, count }: JsonEntries,
  range: ByteRange,
): Promise<unknown> {
  if (kind === 'scalar') return ''
  if (kind === 'list') return new Array(count)
  const keys = new Map<string, null>()
  const scanner = createJsonScanner(({ key }) => {
    if (key !== null) keys.set(key, null)
  })
  await feed(source, range, (bytes) => {
    scanner.write(bytes)
    return false
  })
  return Object.fromEntries(keys)
}

async function nthOf(
  source: JsonSource,
  group: ByteRange,
  nth: number,
  first: ByteRange | undefined,
): Promise<ByteRange | null> {
  if (nth === 0 && first) return { start: first.start, end: first.end }
  const entries = await scanSome(source, group, '[', '', nth + 1)
  return entries[nth] ?? null
}

/** The entries of a part of a container, as `opening` would begin it and `rest` go on, at most `count`. */
async function scanSome(
  source: JsonSource,
  range: ByteRange,
  opening: string,
  rest: string,
  count = 1,
): Promise<ScannedEntry[]> {
  const entries: ScannedEntry[] = []
  const moved = range.start - opening.length
  const scanner = createJsonScanner(({ key, start, valueStart, end }) => {
    if (entries.length === count) return
    entries.push({ key, start: start + moved, valueStart: valueStart + moved, end: end + moved })
  })
  scanner.write(Buffer.from(opening))
  await feed(source, range, (bytes) => {
    scanner.write(bytes)
    return entries.length === count
  })
  scanner.write(Buffer.from(rest))
  return entries
}

async function lastNamed(
  source: JsonSource,
  range: ByteRange,
  name: string,
): Promise<ByteRange | null> {
  let found: ByteRange | null = null
  const scanner = createJsonScanner(({ key, valueStart, end }) => {
    if (key === name) found = { start: range.start + valueStart, end: range.start + end }
  })
  await feed(source, range, (bytes) => {
    scanner.write(bytes)
    return false
  })
  return found
}

/** Gives the bytes of a range in small slices until `take` has enough. */
async function feed(
  source: JsonSource,
  range: ByteRange,
  take: (bytes: Uint8Array) => boolean,
): Promise<void> {
  const pause = createPauses()
  for await (const chunk of chunksOf(await source.open(range))) {
    for (let at = 0; at < chunk.length; at += SLICE) {
      if (take(chunk.subarray(at, at + SLICE))) return
      await pause()
    }
  }
}

/** FNV-1a of a key's UTF-16 units. */
function hashOf(key: string): number {
  let hash = 0x811c9dc5
  for (let i = 0; i < key.length; i++) hash = Math.imul(hash ^ key.charCodeAt(i), 0x01000193)
  return hash >>> 0
}
