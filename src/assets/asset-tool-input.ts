import { ByrefError } from '../core/errors.ts'
import {
  type AssetRefParts,
  formatAssetRef,
  parseAssetRef,
  refParts,
} from '../core/refs/asset-ref.ts'
import type { FieldKey } from '../core/refs/field-path.ts'
import type { AssetRefInput } from './asset-locator.ts'
import type { AssetInfo } from './asset-store.ts'

type FieldPath = readonly FieldKey[]

/** The arguments of a tool as the model wrote them. */
export type ToolInput = Record<string, unknown>

/** Returns the complete reference of an asset, or of the field in it that `ref` names. */
export function fullRef({ ref: whole }: AssetInfo, ref: AssetRefInput): string {
  const fieldPath = parseAssetRef(ref)?.fieldPath
  return fieldPath ? formatAssetRef({ ...parseAssetRef(whole), fieldPath } as AssetRefParts) : whole
}

/**
 * Returns the reference that the input names: `ref` or `id`, and the field at `path` below it.
 *
 * @throws ByrefError `invalid_arguments`
 */
export function refOf({ ref, id, path }: ToolInput): AssetRefInput {
  const named = textOf(ref ?? id, 'ref')
  if (path === undefined || path === null) return named
  if (!Array.isArray(path))
    throw new ByrefError('invalid_arguments', 'path must be a list of keys.')
  return fieldBelow(named, [], path)
}

/**
 * Returns the reference to a field below a reference. The field is appended to the reference's own path, or else to
 * `whole`.
 */
export function fieldBelow(ref: AssetRefInput, whole: FieldPath, path: FieldPath): string {
  const parts = refParts(ref)
  return formatAssetRef({ ...parts, fieldPath: [...(parts.fieldPath ?? whole), ...path] })
}

/**
 * Checks that an input is text.
 *
 * @throws ByrefError `invalid_arguments` for anything but text
 */
export function textOf(value: unknown, name: string): string {
  if (typeof value === 'string' && value !== '') return value
  throw new ByrefError('invalid_arguments', `${name} is missing: it must be text.`)
}

/**
 * Checks that an input is a whole number from 1. Returns undefined if it is absent.
 *
 * @throws ByrefError `invalid_arguments`
 */
export function countOf(input: ToolInput, name: string): number | undefined {
  const value = input[name]
  if (value === undefined || (Number.isInteger(value) && (value as number) >= 1)) {
    return value as number | undefined
  }
  throw new ByrefError('invalid_arguments', `${name} must be a whole number from 1.`)
}
