import type { Assets } from '../assets/assets-contract.ts'
import { documentForm } from '../assets/bodies/mime-type.ts'
import { fileRefIn, heldBody } from '../assets/held-body.ts'
import { inParallel } from '../assets/in-parallel.ts'
import { ByrefError } from '../core/errors.ts'
import { joinLabel, type LabelTree, wholeOf } from '../core/labels/label-tree.ts'
import {
  type AssetRef,
  type AssetRefParts,
  formatAssetRef,
  isAssetRef,
  isWholePath,
  parseAssetRef,
} from '../core/refs/asset-ref.ts'
import type { FieldKey } from '../core/refs/field-key.ts'
import { referencesIn } from '../core/refs/references-in.ts'
import { findTextMarks, type TextMark } from '../core/refs/text-marks.ts'
import { parseVariableRef } from '../core/refs/variable-ref.ts'
import { ArgumentPlaces, PLACES_AT_ONCE, type Place } from './argument-places.ts'
import { textOf } from './convert-asset.ts'
import { type Accepting, acceptingAt, acceptingOf, parametersOf } from './resolve-assets.ts'
import { STORED_BYTES } from './store.ts'
import type { Tool } from './tool.ts'
import type { Found, ValueSource } from './value-source.ts'

/**
 * Maximum characters that embedded references may add to one text. The text goes to the tool and not to the model,
 * so only memory limits it.
 */
const MAX_CHARS = 10_000_000

/** One reference in a call's arguments, with the labels of its value. */
export interface Read {
  /** The path of the value in the arguments. */
  path: readonly FieldKey[]
  /** The reference, as the model wrote it or as a value that the call reads contains it. */
  ref: string
  /** The labels of the reference and of the content that it leads to, for the value and its fields. */
  labels: LabelTree
}

/** A call with the values of its variables. Its arguments still contain asset references. */
export interface ResolvedCall {
  arguments: Record<string, unknown>
  /** Every reference that the call reads. Empty if the source has no labels. */
  reads: readonly Read[]
}

/** The sources of {@link resolveCall}. */
export interface ResolveSource {
  /** The source of variables. Null if `†` is ordinary text. */
  values: ValueSource | null
  assets(): Assets
  /** Whether variables are read only in places that declare references. Default: false. */
  isDeclaredOnly?: boolean
}

/**
 * Replaces the `†` variables in a call's arguments with values, and embedded references in longer texts with text:
 * `<|†state.total|>`, and `<|asset://…|>` where the parameter accepts references. Values are never scanned for more
 * references. Write `\\†state` for the text `†state`.
 *
 * @throws VariableError, and any error of reading; ByrefError `invalid_arguments` for arguments that are nested too
 *   deep, a variable in a longer text without `<|…|>`, or a value that is too long for a text
 */
export async function resolveCall(
  tool: Tool,
  args: Record<string, unknown>,
  source: ResolveSource,
): Promise<ResolvedCall> {
  const { values } = source
  const reads: Read[] = []
  const isText = values !== null && tool.variables === false
  const resolved = isText ? args : await withValues(tool, args, source, reads)
  if (values?.labelsOf) {
    reads.push(...(await assetReads(resolved, values.labelsOf, source.assets())))
  }
  return { arguments: resolved, reads }
}

async function withValues(
  tool: Tool,
  args: Record<string, unknown>,
  source: ResolveSource,
  reads: Read[],
): Promise<Record<string, unknown>> {
  const { values } = source
  const where = acceptingOf(tool)
  const places = new ArgumentPlaces(args, parametersOf(tool))
  const variables: { place: Place; ref: string; found: Found | Promise<Found> }[] = []
  const texts: MarkedText[] = []
  for (const place of places) {
    const text = place.value
    if (typeof text !== 'string' || !(text.includes('†') || text.includes('<|'))) continue
    if (source.isDeclaredOnly && acceptingAt(place, where).length === 0) continue
    if (values && parseVariableRef(text) !== null) {
      const found = values.read(text, takesRef(place, where) ? 'ref' : 'value')
      // If another reference fails first, this one is never awaited.
      if (found instanceof Promise) found.catch(() => {})
      variables.push({ place, ref: text, found })
    } else {
      const takesAssets = acceptingAt(place, where).length > 0
      texts.push({ place, text, takesAssets, marks: marksIn(text, { takesAssets, values }) })
    }
  }
  for (const { place, ref, found } of variables) {
    const { value, labels } = await found
    if (labels) reads.push({ path: place.path(), ref, labels })
    place.put(value)
  }
  await inParallel(texts, { limit: PLACES_AT_ONCE }, async (marked) => {
    marked.place.put(await fillIn(marked, source, reads))
  })
  return places.result
}

/**
 * Puts back the base64 that `storeArguments` took out of the texts of a call's arguments.
 *
 * @param refs The assets that were created from the arguments of this call. Other references stay.
 */
export async function restoreBytes(
  args: Record<string, unknown>,
  refs: ReadonlySet<string>,
  assets: Assets,
): Promise<Record<string, unknown>> {
  const places = new ArgumentPlaces(args, null)
  const read = new Map<string, string>()
  for (const place of places) {
    const text = place.value
    if (typeof text !== 'string' || !text.includes('<|asset://')) continue
    const parts: string[] = []
    let end = 0
    for (const { 0: mark, 1: ref = '', index } of text.matchAll(STORED_BYTES)) {
      if (!refs.has(ref)) continue
      const base64 = read.get(ref) ?? (await assets.getBase64(ref)).base64
      read.set(ref, base64)
      parts.push(text.slice(end, index), base64)
      end = index + mark.length
    }
    if (end > 0) place.put(parts.join('') + text.slice(end))
  }
  return places.result
}

type LabelsOf = NonNullable<ValueSource['labelsOf']>

/** Returns the asset references anywhere in the resolved arguments, also in the values of variables. */
export async function assetReads(
  args: unknown,
  labelsOf: LabelsOf,
  assets: Pick<Assets, 'resolve'>,
): Promise<Read[]> {
  const found = referencesIn(args).flatMap(({ path, text: ref, assets }) =>
    assets.map((parts) => ({ path, ref, parts })),
  )
  return Promise.all(
    found.map(async ({ path, ref, parts }) => {
      return { path, ref, labels: await labelsWithin(parts, labelsOf, assets) }
    }),
  )
}

/** Returns the labels of a reference. If it leads to a field that holds a file, they include those of the file. */
export async function labelsWithin(
  parts: AssetRefParts,
  labelsOf: LabelsOf,
  assets: Pick<Assets, 'resolve'>,
): Promise<LabelTree> {
  const [labels, held] = await Promise.all([labelsOf(parts), heldBody(parts, assets)])
  const file = held && parseAssetRef(held.ref)
  return file ? joinLabel(await labelsOf(file), wholeOf(labels)) : labels
}

/** Whether a parameter takes the reference itself, and not the value that it names. */
function takesRef(place: Place, where: Accepting): boolean {
  return acceptingAt(place, where).some(({ asset_ref_as }) => asset_ref_as === 'ref')
}

/** A text in the arguments that has embedded references. */
interface MarkedText {
  place: Place
  text: string
  /** Whether embedded asset references are replaced, too. */
  takesAssets: boolean
  marks: readonly TextMark[]
}

/** @throws ByrefError `invalid_arguments` for a variable without `<|…|>` */
function marksIn(
  text: string,
  { takesAssets, values }: { takesAssets: boolean; values: ValueSource | null },
): TextMark[] {
  return findTextMarks(text).filter((mark) => {
    if (mark.type === 'asset') return takesAssets
    if (mark.type === 'bare' && values?.knows(mark.ref))
      throw bareVariable(mark.text, text.slice(mark.end))
    return values !== null && mark.type !== 'bare'
  })
}

/** Returns the text with values in place of its embedded references. */
async function fillIn(
  { place, text, takesAssets, marks }: MarkedText,
  source: ResolveSource,
  reads: Read[],
): Promise<string> {
  const [only] = marks
  if (only?.type === 'asset' && only.start === 0 && only.end === text.length) return nameOf(only)
  const parts: string[] = []
  let remaining = MAX_CHARS
  let end = 0
  // Read one after the other, so that reading stops at the limit.
  for (const mark of marks) {
    const before = text.slice(0, mark.start)
    const { value, labels } = await textFor(mark, source, { limit: remaining, before })
    if (labels)
      reads.push({ path: place.path(), ref: nameOf(mark), labels: { label: wholeOf(labels) } })
    remaining -= value.length
    parts.push(text.slice(end, mark.start), value)
    end = mark.end
  }
  const filled = parts.join('') + text.slice(end)
  // The content of an asset must not be scanned for references.
  if (takesAssets && isAssetRef(filled) && marks.some(({ type }) => type === 'asset')) {
    throw new ByrefError(
      'invalid_arguments',
      `${text.slice(0, 200)} becomes ${filled.slice(0, 200)}, which is a reference. Pass that reference, without <| and |>.`,
    )
  }
  return filled
}

interface FoundText extends Found {
  value: string
}

async function textFor(
  mark: TextMark,
  { values, assets }: ResolveSource,
  { limit, before }: { limit: number; before: string },
): Promise<FoundText> {
  if (mark.type === 'asset') {
    const read = before.endsWith(';base64,') ? assetBase64 : assetText
    const parts = parseAssetRef(mark.ref) as AssetRefParts
    const file = (await heldBody(parts, assets()))?.ref ?? mark.ref
    const value = bounded(await read(file, assets(), limit), nameOf(mark), limit)
    const { labelsOf } = values ?? {}
    return { value, labels: labelsOf && (await labelsWithin(parts, labelsOf, assets())) }
  }
  if (mark.type !== 'variable' || !values) return { value: '' }
  const { value, labels } = await values.read(mark.text)
  const file = fileRefIn(value)
  if (file !== null) {
    const parts = parseAssetRef(file) as AssetRefParts
    const content = await values.labelsOf?.(parts)
    const text = bounded(await assetText(file, assets(), limit), mark.text, limit)
    return { value: text, labels: labels && content ? joinLabel(content, wholeOf(labels)) : labels }
  }
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return { value: bounded(text, mark.text, limit), labels }
}

function nameOf(mark: TextMark): string {
  if (mark.type === 'asset') return formatAssetRef(parseAssetRef(mark.ref) as AssetRefParts)
  return mark.type === 'variable' ? mark.text : ''
}

async function assetText(ref: string | AssetRef, assets: Assets, limit: number): Promise<string> {
  const { size, mime } = await assets.info(ref)
  const parts = parseAssetRef(ref) as AssetRefParts
  // A character has at most four bytes. A field of a large asset may be small, and so may the text of a document.
  const isText = isWholePath(parts.fieldPath) && !documentForm(mime)
  const name = formatAssetRef(parts)
  if (isText && size > limit * 4) throw tooLong(name, `${size} bytes`)
  return textOf(ref, assets)
}

/** Returns the base64 of an asset, for an embedded reference after `;base64,`. */
async function assetBase64(ref: string | AssetRef, assets: Assets, limit: number): Promise<string> {
  const { size } = await assets.info(ref)
  if (size > limit)
    throw tooLong(formatAssetRef(parseAssetRef(ref) as AssetRefParts), `${size} bytes`)
  return (await assets.getBase64(ref)).base64
}

function bounded(text: string, name: string, limit: number): string {
  if (text.length <= limit) return text
  throw tooLong(name, `${text.length} characters`)
}

function tooLong(name: string, size: string): ByrefError {
  return new ByrefError(
    'invalid_arguments',
    `${name} has ${size}, and one text has at most ${MAX_CHARS.toLocaleString('en')} characters. Pass the reference alone as the parameter, or name a field of it (…/content/key).`,
  )
}

function bareVariable(name: string, after: string): ByrefError {
  const index = /^\[[^\]]*\]/.exec(after)?.[0]
  return new ByrefError(
    'invalid_arguments',
    index
      ? `${index} is no index of ${name}: write a whole number from 0, such as ${name}[0]`
      : `${name} is part of a longer text. Write <|${name}|> for its value, or \\${name} for the text itself`,
  )
}
