import { is, type OptionTable } from '../check-options.ts'
import { isPlainObject } from '../json/json.ts'

/** Whether somebody vouches for a value: what is untrusted may be anybody's words. */
export type Integrity = 'trusted' | 'untrusted'

/** Whether a value may go anywhere. */
export type Confidentiality = 'public' | 'private'

/** What is known of where a value came from, and where it may go. Never changes. */
export interface Label {
  readonly integrity: Integrity
  readonly confidentiality: Confidentiality
  /** Of what is private, who may read it, sorted; none: nobody. Null where nobody is named: all who are inside. */
  readonly readers: readonly string[] | null
  /** What made it so, as `call:<id>` and `message:<id>`: the first {@link MAX_SOURCES}, for people; lineage knows all. */
  readonly sources: readonly string[]
}

/** A label as it is written down: what is absent is trusted, public, of all readers. */
export interface LabelInput {
  integrity?: Integrity
  confidentiality?: Confidentiality
  readers?: readonly string[] | null
  /** As in a {@link Label}. */
  sources?: readonly string[]
}

/**
 * What a place takes. `integrity: 'trusted'` takes nothing untrusted; `confidentiality: 'public'` nothing private;
 * `readers` are those who will read what is taken: then also what is private goes there, if all of them may read it.
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

/** Which part of a label a place does not take. */
export type FlowRule = 'integrity' | 'confidentiality' | 'readers'

/** More sources are not kept. */
export const MAX_SOURCES = 8

/** Somebody vouches for it, and it may go anywhere. */
export const TRUSTED: Label = Object.freeze({
  integrity: 'trusted',
  confidentiality: 'public',
  readers: null,
  sources: Object.freeze([]) as readonly string[],
})

/** Nobody vouches for it. */
export const UNTRUSTED: Label = Object.freeze({ ...TRUSTED, integrity: 'untrusted' })

/** Nothing is known of it: nobody vouches for it, and it is not to leave. */
export const UNKNOWN: Label = Object.freeze({ ...UNTRUSTED, confidentiality: 'private' })

/** Nobody vouches for it and nobody may read it: what stands for a label that cannot be read. */
export const STRICTEST: Label = Object.freeze({ ...UNKNOWN, readers: Object.freeze([]) })

/** The label of what is made of both: untrusted wins, private wins, readers are those of both. */
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

/** {@link join} of any number; of none it is trusted. */
export function joinAll(labels: Iterable<Label>): Label {
  let all = TRUSTED
  for (const label of labels) all = join(all, label)
  return all
}

/** Whether two labels say the same, whatever their sources. */
export function saysSame(a: Label, b: Label): boolean {
  return (
    a.integrity === b.integrity &&
    a.confidentiality === b.confidentiality &&
    a.readers?.join('\n') === b.readers?.join('\n')
  )
}

/** Whether it says nothing but that all is well. */
export function isPlain({ integrity, confidentiality }: Label): boolean {
  return integrity === 'trusted' && confidentiality === 'public'
}

/** What a place that takes so much does not take of a label; empty where the value may go there. */
export function refusedBy(
  { integrity: asked, confidentiality, readers: audience }: Clearance,
  label: Label,
): FlowRule[] {
  const refused: FlowRule[] = []
  if (asked === 'trusted' && label.integrity === 'untrusted') refused.push('integrity')
  if (label.confidentiality === 'public') return refused
  if (audience) {
    const { readers } = label
    if (readers && !audience.every((one) => readers.includes(one))) refused.push('readers')
  } else if (confidentiality === 'public') refused.push('confidentiality')
  return refused
}

/** Whether somebody says what a place takes, and nothing that would be overlooked. */
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

/** Whether a person may read what has this label. */
export function mayRead(reader: string, { confidentiality, readers }: Label): boolean {
  return confidentiality === 'public' || readers === null || readers.includes(reader)
}

/** The same label, said to be made by a source; one that says that all is well needs none. */
export function madeBy(label: Label, source: string): Label {
  return isPlain(label) ? TRUSTED : { ...label, sources: allSources([source], label.sources) }
}

/** Reads what somebody says of a value. What is no label is the strictest. */
export function readLabel(given: unknown): Label {
  if (!isPlainObject(given)) return STRICTEST
  const { integrity = 'trusted', confidentiality: said, readers = null, sources = [] } = given
  const confidentiality = said ?? (readers === null ? 'public' : 'private')
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

/** A label with its sources, as events carry it. */
export type WrittenLabel = LabelInput

/** The label as events carry it: without what goes without saying. */
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
