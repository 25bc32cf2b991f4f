import type { Assets } from '../assets/assets-contract.ts'
import { decodeDataUrl, parseDataUrl } from '../assets/bodies/data-url.ts'
import { fileRefIn, refIn } from '../assets/held-body.ts'
import { inParallel } from '../assets/in-parallel.ts'
import { listRows } from '../assets/tables/table-rows.ts'
import { type Alternatives, acceptsType } from '../core/board/schema-walk.ts'
import { ByrefError } from '../core/errors.ts'
import { isPlainObject } from '../core/json/json.ts'
import { oncePer } from '../core/once-resolved.ts'
import { type AssetRef, isAssetRef, parseAssetRef } from '../core/refs/asset-ref.ts'
import { type FieldKey, toPointer } from '../core/refs/field-key.ts'
import { ArgumentPlaces, PLACES_AT_ONCE, type Place } from './argument-places.ts'
import { convertAsset } from './convert-asset.ts'
import type { JsonSchema } from './describe-schema.ts'
import { type Codec, takingReferences } from './describe-tool.ts'
import { jsonLength } from './store.ts'
import { jsonSchemaOf, type Tool } from './tool.ts'

/** A text that stands for a value which is not JSON until the arguments are validated. */
export interface Placeholder {
  path: readonly FieldKey[]
  text: string
  /** The value that replaces the text. */
  value: unknown
}

/** A call's arguments with the values of its asset references. */
export interface ResolvedArguments {
  args: Record<string, unknown>
  placeholders: readonly Placeholder[]
  /** Cancels streams in the arguments that were not read. */
  release(): void
}

/**
 * Where a tool accepts references. `declared`: where its schema says so. `everywhere`: in all places. `typed`: in every
 * place whose schema has a type, because the tool declares no place.
 */
export type Accepting = 'declared' | 'everywhere' | 'typed'

/** Returns where a tool accepts references. */
export function acceptingOf(tool: Tool): Accepting {
  return tool.references ?? (declaresReferences(jsonSchemaOf(tool)) ? 'declared' : 'typed')
}

/** Returns the schema of a tool's parameters, with references accepted where the tool takes them. */
export function parametersOf(tool: Tool): JsonSchema {
  return acceptingOf(tool) === 'declared' ? jsonSchemaOf(tool) : takingReferences(tool)
}

/** Returns the schemas of a place that accept references. */
export function acceptingAt(place: Place, where: Accepting): Alternatives {
  const found = place.alternatives()
  if (where === 'everywhere' && found.length === 0) return ANYTHING
  // A place without a type may hold data that names an asset.
  return found.filter((one) => acceptsRefs(one) && (where !== 'typed' || one.type !== undefined))
}

function acceptsRefs({ asset_ref_acceptable }: JsonSchema): boolean {
  return asset_ref_acceptable === true
}

/** The schema of a place that no schema describes, such as a field of an open object. */
const ANYTHING: Alternatives = [{ asset_ref_acceptable: true }]

const textOf = oncePer((schema: JsonSchema) => JSON.stringify(schema))

/** Whether a schema says anywhere which parameters take references. */
export function declaresReferences(schema: JsonSchema): boolean {
  return mentions(schema, 'asset_ref_acceptable', 'true')
}

/** Whether a schema contains a keyword at any depth, with this JSON value if one is passed. */
function mentions(schema: JsonSchema, keyword: string, value = ''): boolean {
  return textOf(schema).includes(`"${keyword}":${value}`)
}

/**
 * Replaces asset references with values, where the tool accepts them. A value has the form that the schema of the
 * place, or a branch of it, asks for. Each reference is resolved once, and its content is never scanned for more
 * references. A reference is rejected where a branch says `asset_ref_acceptable: false`. All other references stay.
 *
 * @throws ByrefError the error of the reference that failed; `invalid_arguments` if its value does not fit;
 *   `asset_too_large` if all values together exceed `limits.valueBytes`
 */
export async function resolveAssets(
  tool: Tool,
  args: Record<string, unknown>,
  assets: () => Assets,
  codec: Codec = {},
): Promise<ResolvedArguments> {
  const where = acceptingOf(tool)
  const schema = parametersOf(tool)
  const hasForms = mentions(schema, 'asset_ref_as')
  if (!hasForms && !holdsReference(args)) return { args, placeholders: [], release() {} }
  const places = new ArgumentPlaces(args, schema)
  const found: FoundReference[] = []
  const placeholders: Placeholder[] = []
  const streams: ReadableStream[] = []
  const release = (): void => {
    for (const stream of streams) if (!stream.locked) stream.cancel().catch(() => {})
  }

  let total = 0
  function put(place: Place, text: string, { value, schema }: Converted): void {
    const { valueBytes } = assets().config.limits
    const isFirst = total === 0
    total += sizeOf({ value, schema }, valueBytes - total)
    if (total > valueBytes && !isFirst) throw tooLarge(valueBytes)
    if (value instanceof ReadableStream) streams.push(value)
    const takesText = schema.asset_ref_as !== undefined && [schema.type].flat().includes('string')
    const needsPlaceholder = takesText && typeof value !== 'string'
    if (needsPlaceholder) placeholders.push({ path: place.path(), text, value })
    place.put(needsPlaceholder ? text : value)
  }

  try {
    for (const place of places) {
      const { value } = place
      if (mayBeRef(value)) {
        const reference = referenceAt(place, where) ?? namedAssetAt(place, where)
        if (reference) found.push(reference)
        if (reference) place.skip()
      } else if (hasForms && Array.isArray(value)) {
        place.put(withRows(value, place))
      } else if (hasForms && typeof value === 'string') {
        const body = dataUrlAt(value, place)
        if (body) put(place, 'data:', body)
      } else if (hasForms && isPlainObject(value)) {
        checkObject(value, place)
      }
    }
    await inParallel(
      found,
      { limit: PLACES_AT_ONCE },
      async ({ place, ref, accepting, acceptsFiles }) => {
        const text = typeof ref === 'string' ? ref : JSON.stringify(ref)
        put(place, text, await convertAsset(ref, accepting, assets(), { ...codec, acceptsFiles }))
      },
    )
    return { args: places.result, placeholders, release }
  } catch (error) {
    release()
    throw error
  }
}

/** Returns the approximate size of a value in memory, in bytes. Stops counting soon after `most`. */
function sizeOf({ value, schema }: Converted, most: number): number {
  if (value instanceof Uint8Array) return value.byteLength
  // A value in another form is read when the tool asks for it.
  return schema.asset_ref_as === undefined ? jsonLength(value, most) : 0
}

function tooLarge(limit: number): ByrefError {
  return new ByrefError(
    'asset_too_large',
    `The values of the references in this call have more than ${limit} bytes together (limits.valueBytes). Pass fewer of them in one call.`,
  )
}

/** A value in the form of one of the schemas of its place. */
interface Converted {
  value: unknown
  schema: JsonSchema
}

/** A reference in the arguments that is replaced by its value. */
interface FoundReference {
  place: Place
  ref: string | AssetRef
  /** The schemas that its value may fit. */
  accepting: Alternatives
  /** Whether a text parameter accepts every file, because the tool does not know references. */
  acceptsFiles: boolean
}

/** Whether the arguments contain an asset reference, or an object that names an asset, at any depth. */
function holdsReference(args: object): boolean {
  const waiting: object[] = [args]
  for (const value of waiting) {
    if (!Array.isArray(value) && !isPlainObject(value)) continue
    if (mayBeRef(value)) return true
    for (const item of Object.values(value)) {
      if (typeof item === 'string' && mayBeRef(item)) return true
      if (typeof item === 'object' && item !== null) waiting.push(item)
    }
  }
  return false
}

/**
 * Returns the reference at a place that accepts one; else null.
 *
 * @throws ByrefError `invalid_arguments` if the schema of the place forbids references
 */
function referenceAt(place: Place, where: Accepting): FoundReference | null {
  const { value } = place
  const isData = where === 'typed' && typeof value !== 'string'
  const accepting = isData ? [] : acceptingAt(place, where)
  const ref = parseRef(value, accepting.length > 0)
  if (ref === null) return null
  if (accepting.length > 0) return { place, ref, accepting, acceptsFiles: where !== 'declared' }
  if (!place.alternatives().some((one) => one.asset_ref_acceptable === false)) return null
  throw new ByrefError(
    'invalid_arguments',
    `${toPointer(place.path())} does not take references such as ${JSON.stringify(ref)}. Write the value itself.`,
  )
}

/**
 * Returns the asset that an object names by its `assetRef`, if the parameter takes text, a list or an asset, and no
 * objects.
 */
function namedAssetAt(place: Place, where: Accepting): FoundReference | null {
  const ref = refIn(place.value)
  if (ref === null) return null
  const schemas = place.alternatives()
  const isForAssets = (one: JsonSchema) => acceptsRefs(one) && one.asset_ref_as !== undefined
  const takesObjects = schemas.some((one) => {
    return !(isForAssets(one) && one.type === undefined) && acceptsType(one, place.value)
  })
  const accepting = schemas.filter((one) => {
    const types = [one.type].flat()
    return isForAssets(one) || types.includes('string') || types.includes('array')
  })
  if (takesObjects || accepting.length === 0) return null
  // A parameter that is not marked receives every file.
  const acceptsFiles = where !== 'declared' || !accepting.some(acceptsRefs)
  return { place, ref, accepting, acceptsFiles }
}

function mayBeRef(value: string | object): boolean {
  if (typeof value === 'string') return isAssetRef(value)
  return Object.hasOwn(value, 'asset_id') || refIn(value) !== null
}

/** @param isExpected Whether the place accepts references. Then a reference may have no field path. */
function parseRef(value: unknown, isExpected: boolean): string | AssetRef | null {
  if (typeof value === 'string') return value
  const body = fileRefIn(value)
  if (body !== null) return isExpected ? body : null
  const isRef = isExpected ? parseAssetRef(value as AssetRef) !== null : isAssetRef(value)
  return isRef ? (value as AssetRef) : null
}

/** Returns a list as table rows, if the place asks for rows. */
function withRows(list: readonly unknown[], place: Place): unknown {
  const takesRows = place.alternatives().some(({ asset_ref_as }) => asset_ref_as === 'rows')
  return takesRows ? listRows(list, toPointer(place.path())) : list
}

/**
 * Returns the bytes of a data URL in a place for assets. Null for a place that accepts other values.
 *
 * @throws ByrefError `invalid_arguments` for any other text in a place for assets
 */
function dataUrlAt(text: string, place: Place): Converted | null {
  const schema = onlyAssets(place.alternatives())
  if (!schema || schema.asset_ref_as === 'ref') return null
  const url = parseDataUrl(text)
  const isFile = !['asset', 'rows'].includes(String(schema.asset_ref_as))
  const bytes = url && isFile ? decodeDataUrl(url) : null
  if (url && bytes) {
    const blob = new Blob([bytes], { type: url.mime ?? 'text/plain' })
    if (schema.asset_ref_as === 'bytes') return { value: bytes, schema }
    return { value: schema.asset_ref_as === 'stream' ? blob.stream() : blob, schema }
  }
  throw noReference(place, JSON.stringify(text.slice(0, 100)))
}

/** @throws ByrefError `invalid_arguments` for an object that names no asset in a place for assets */
function checkObject(value: Record<string, unknown>, place: Place): void {
  const schema = onlyAssets(place.alternatives())
  const isAccepted = !schema || (schema.type !== undefined && acceptsType(schema, value))
  if (!isAccepted) throw noReference(place, 'An object')
}

function noReference(place: Place, what: string): ByrefError {
  return new ByrefError(
    'invalid_arguments',
    `${toPointer(place.path())} takes a reference to an asset, such as asset://id. ${what} is not a reference.`,
  )
}

/** Returns the schema of a place that accepts only assets, or assets and null. Null for any other place. */
function onlyAssets(alternatives: Alternatives): JsonSchema | null {
  const others = alternatives.filter(({ type }) => type !== 'null')
  const isOnly = others.every((one) => acceptsRefs(one) && one.asset_ref_as !== undefined)
  return isOnly ? (others[0] ?? null) : null
}
