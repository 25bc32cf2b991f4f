import { ByrefError } from '../../core/errors.ts'
import { fromPointer } from '../../core/refs/field-key.ts'
import { hasUtf8Mark } from '../bodies/text-encoding.ts'
import { JsonScanner, type ScannedEntry } from '../json/json-entries.ts'
import { NotJsonError } from '../json/json-walker.ts'
import type { Draft } from './draft.ts'

/** The container that the last step of a JSON Pointer leads into, with the entries around the place. */
export interface JsonContainer {
  isList: boolean
  /** Offsets in bytes, from its bracket to after its closing bracket. */
  start: number
  end: number
  count: number
  first: ScannedEntry | null
  second: ScannedEntry | null
  last: ScannedEntry | null
  /** The entries of this key or index, in order. A repeated key has several. The last one counts. */
  found: ScannedEntry[]
  /** The entries directly before and after the last one of `found`. */
  before: ScannedEntry | null
  after: ScannedEntry | null
}

/** The place that a JSON Pointer names. */
export interface JsonPlace {
  /** Null for the whole document. */
  container: JsonContainer | null
  /** The value; null if it does not exist. */
  value: { start: number; end: number } | null
}

/**
 * Finds the place that a JSON Pointer names, and checks that the draft is JSON. Returns null if a container on the way
 * is missing.
 */
export async function findPlace(
  draft: Draft,
  pointer: readonly string[],
): Promise<JsonPlace | null> {
  const [key] = pointer.slice(-1)
  const found: { container: JsonContainer | null } = { container: null }
  const scanner = new JsonScanner((entry) => found.container && add(found.container, entry, key), {
    path: pointer.slice(0, -1),
    onStep() {
      found.container = null
    },
    onBegin(isList, start) {
      const around = { first: null, second: null, last: null, found: [], before: null, after: null }
      found.container = { isList, start, end: start, count: 0, ...around }
    },
    onEnd(end) {
      if (found.container) found.container.end = end
    },
  })
  await scanAll(draft, scanner)
  const { container } = found
  if (key === undefined) return { container: null, value: scanner.rootRange }
  const entry = container?.found.at(-1)
  return (
    container && { container, value: entry ? { start: entry.valueStart, end: entry.end } : null }
  )
}

async function scanAll(draft: Draft, scanner: JsonScanner): Promise<void> {
  try {
    let isFirst = true
    for await (const chunk of draft.chunks()) {
      const hasMark = isFirst && hasUtf8Mark(chunk)
      // A byte order mark counts as white space.
      scanner.write(hasMark ? Buffer.concat([Buffer.from('   '), chunk.subarray(3)]) : chunk)
      isFirst = false
    }
    scanner.finish()
  } catch (error) {
    if (!(error instanceof NotJsonError)) throw error
    throw new ByrefError(
      'asset_unsupported',
      'The asset is not JSON in UTF-8 (comments and trailing commas are not JSON), so JSON operations cannot edit it. Edit its text with find and replace.',
    )
  }
}

/** Adds an entry to its container. `wanted` is the key or index of the place. */
function add(container: JsonContainer, entry: ScannedEntry, wanted: string | undefined): void {
  const { found, last, count } = container
  if (found.length > 0 && last === found.at(-1)) container.after = entry
  if ((container.isList ? String(count) : entry.key) === wanted) {
    found.push(entry)
    container.before = last
    container.after = null
  }
  if (count === 0) container.first = entry
  if (count === 1) container.second = entry
  container.last = entry
  container.count++
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
  return fromPointer(pointer)
}
