import { is, type OptionTable } from '../check-options.ts'
import { isPlainObject } from '../json/json.ts'

/** Whether a value can be trusted. Anybody may have written an untrusted value. */
export type Integrity = 'trusted' | 'untrusted'

/** Whether a value may be sent anywhere. */
export type Confidentiality = 'public' | 'private'

/** What byref knows about the origin of a value, and where the value may go. Immutable. */
export interface Label {
  readonly integrity: Integrity
  readonly confidentiality: Confidentiality
  /** Who may read a private value, sorted. Empty: nobody. Null: everybody who can use the conversation. */
  readonly readers: readonly string[] | null
  /**
   * The calls and messages from which the label comes, as `call:<id>` and `message:<id>`. Only the first {@link
   * MAX_SOURCES}. `agent.lineage` has all of them.
   */
  readonly sources: readonly string[]
}

/** A label as declared. Absent keys mean trusted, public and no named readers. */
export interface LabelInput {
  integrity?: Integrity
  confidentiality?: Confidentiality
  readers?: readonly string[] | null
  /** Like the `sources` of a {@link Label}. */
  sources?: readonly string[]
}

/**
 * Which labels a place accepts. `integrity: 'trusted'` accepts no untrusted values. `confidentiality: 'public'`
 * accepts no private values. `readers` lists those who will read the value: private values are then accepted if all
 * of them may read the value.
 */
export interface Clearance {
  integrity?: Integrity
  confidentiality?: Confidentiality
  readers?: readonly string[]
}

const LEVELS = {
  integrity: is.oneOf('trusted', 'untrusted'),
  confidentiality: is.oneOf('public', 'private'),
}
export const LABEL_OPTIONS: OptionTable<LabelInput> = {
  ...LEVELS,
  readers: is.nullable(is.listOf(is.string)),
  sources: is.listOf(is.string),
}
export const CLEARANCE_OPTIONS: OptionTable<Clearance> = {
  ...LEVELS,
  readers: is.listOf(is.string),
}

/** The part of a label that a place does not accept. */
export type FlowRule = 'integrity' | 'confidentiality' | 'readers'

/** Maximum number of sources in a label. */
const MAX_SOURCES = 8

/** Trusted and public. */
export const TRUSTED: Label = Object.freeze({
  integrity: 'trusted',
  confidentiality: 'public',
  readers: null,
  sources: Object.freeze([]) as readonly string[],
})

/** Untrusted and public. */
export const UNTRUSTED: Label = Object.freeze({ ...TRUSTED, integrity: 'untrusted' })

/** Unknown origin: untrusted and private. */
export const UNKNOWN: Label = Object.freeze({ ...UNTRUSTED, confidentiality: 'private' })

/** Untrusted, and nobody may read it. Used for an invalid label. */
export const STRICTEST: Label = Object.freeze({ ...UNKNOWN, readers: Object.freeze([]) })

/** Joins two labels. Untrusted wins, private wins, and the readers are those that both allow. */
export function join(a: Label, b: Label): Label {
  if (a === b || b === TRUSTED) return a
  if (a === TRUSTED) return b
  const integrity = a.integrity === 'untrusted' ? a.integrity : b.integrity
  const confidentiality = a.confidentiality === 'private' ? a.confidentiality : b.confidentiality
  const readers = commonReaders(a.readers, b.readers)
  const sources = allSources(a.sources, b.sources)
  for (const one of [a, b]) {
    const isSame = one.integrity === integrity && one.confidentiality === confidentiality
    if (isSame && one.readers === readers && one.sources === sources) return one
  }
  return { integrity, confidentiality, readers, sources }
}

/** Joins any number of labels. Without any, the result is trusted. */
export function joinAll(labels: Iterable<Label>): Label {
  let all = TRUSTED
  for (const label of labels) all = join(all, label)
  return all
}

/** Whether the label is trusted and public. */
export function isPlain({ integrity, confidentiality }: Label): boolean {
  return integrity === 'trusted' && confidentiality === 'public'
}

/** Returns the rules of a clearance that a label breaks; empty if the value may go there. */
export function violatedRules(
  { integrity: asked, confidentiality, readers: audience }: Clearance,
  label: Label,
): FlowRule[] {
  const violated: FlowRule[] = []
  if (asked === 'trusted' && label.integrity === 'untrusted') violated.push('integrity')
  if (label.confidentiality === 'public') return violated
  if (audience) {
    const { readers } = label
    if (readers && !audience.every((one) => readers.includes(one))) violated.push('readers')
  } else if (confidentiality === 'public') violated.push('confidentiality')
  return violated
}

/** Whether a value is a valid clearance, without unknown keys. */
export function isClearance(given: unknown): given is Clearance {
  if (!isPlainObject(given)) return false
  const { integrity, confidentiality, readers, ...more } = given
  return (
    [undefined, 'trusted', 'untrusted'].includes(integrity as undefined) &&
    [undefined, 'public', 'private'].includes(confidentiality as undefined) &&
    (readers === undefined || isTexts(readers)) &&
    Object.keys(more).length === 0
  )
}

/** Whether a reader may read a value with this label. A reader of null has no name, so no named readers include it. */
export function mayRead(reader: string | null, { confidentiality, readers }: Label): boolean {
  if (confidentiality === 'public' || readers === null) return true
  return reader !== null && readers.includes(reader)
}

/** Adds a source to a label. A trusted and public label needs none. */
export function madeBy(label: Label, source: string): Label {
  return isPlain(label) ? TRUSTED : { ...label, sources: allSources([source], label.sources) }
}

/** Reads a declared label. An invalid label becomes the strictest one. */
export function readLabel(given: unknown): Label {
  if (!isPlainObject(given)) return STRICTEST
  const { integrity = 'trusted', confidentiality: level, readers = null, sources = [] } = given
  const confidentiality = level ?? (readers === null ? 'public' : 'private')
  const isKnown =
    (integrity === 'trusted' || integrity === 'untrusted') &&
    (confidentiality === 'public' || confidentiality === 'private') &&
    (readers === null || isTexts(readers)) &&
    isTexts(sources)
  if (!isKnown) return STRICTEST
  if (integrity === 'trusted' && confidentiality === 'public') return TRUSTED
  const isPrivate = confidentiality === 'private'
  return {
    integrity,
    confidentiality,
    readers: isPrivate && readers ? [...new Set(readers as string[])].sort() : null,
    sources: (sources as string[]).slice(0, MAX_SOURCES),
  }
}

/** A label with its sources, as events store it. */
export type WrittenLabel = LabelInput

/** Converts a label to the form that events store, without default values. */
export function writeLabel({ integrity, confidentiality, readers, sources }: Label): WrittenLabel {
  const written: WrittenLabel = {}
  if (integrity === 'untrusted') written.integrity = integrity
  if (confidentiality === 'private') written.confidentiality = confidentiality
  if (readers) written.readers = readers
  if (sources.length > 0) written.sources = sources
  return written
}

function commonReaders(a: Label['readers'], b: Label['readers']): Label['readers'] {
  if (!a || !b) return a ?? b
  const both = a.filter((one) => b.includes(one))
  return both.length === a.length ? a : both.length === b.length ? b : both
}

function allSources(a: readonly string[], b: readonly string[]): readonly string[] {
  if (b.length === 0 || a.length >= MAX_SOURCES) return a
  if (a.length === 0) return b
  let all: string[] | undefined
  for (const one of b) {
    if (a.includes(one)) continue
    all ??= a.slice()
    if (all.push(one) === MAX_SOURCES) break
  }
  return all ?? a
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((one) => typeof one === 'string')
}
