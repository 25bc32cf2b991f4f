import { type AssetRef, type AssetRefParts, isAssetRef, parseAssetRef } from './asset-ref.ts'
import { findEmbeddedRefs } from './embedded-refs.ts'
import type { FieldKey } from './field-key.ts'
import { variablesInText } from './text-marks.ts'
import { parseVariableRef, type VariableRef, variablesIn } from './variable-ref.ts'

/** A reference in a value, to assets or variables. An expression may refer to several variables. */
export interface FoundReference {
  /** The path of the text in the value. */
  path: readonly FieldKey[]
  /** The reference as written. */
  text: string
  variables: readonly VariableRef[]
  assets: readonly AssetRefParts[]
}

/** An asset URL in longer text, even without marks, because the receiver of the text may follow it. */
const ADDRESS = /asset:\/\/[^\s"'`<>|()[\]{}\\]+/gi

/** Maximum nesting depth that is searched. Calls with deeper values are rejected. */
const MAX_DEPTH = 200

/**
 * Returns every reference in a value, at any depth, in all forms that calls accept: `†` expressions, asset
 * references as URLs and objects, both between marks in longer text, and bare asset URLs in any text.
 */
export function referencesIn(root: unknown): FoundReference[] {
  const found: FoundReference[] = []
  const waiting: { value: unknown; path: readonly FieldKey[] }[] = [{ value: root, path: [] }]
  for (let one = waiting.pop(); one; one = waiting.pop()) {
    const { value, path } = one
    if (typeof value === 'string') {
      found.push(...inText(value).map((reference) => ({ path, ...reference })))
    } else if (typeof value === 'object' && value !== null && path.length < MAX_DEPTH) {
      const asset = Object.hasOwn(value, 'asset_id') ? parseAssetRef(value as AssetRef) : null
      if (asset) found.push({ path, text: JSON.stringify(value), variables: [], assets: [asset] })
      const isList = Array.isArray(value)
      for (const [key, item] of Object.entries(value).reverse()) {
        if (typeof item !== 'string' && (typeof item !== 'object' || item === null)) continue
        waiting.push({ value: item, path: [...path, isList ? Number(key) : key] })
      }
    }
  }
  return found
}

function inText(text: string): Omit<FoundReference, 'path'>[] {
  const hasVariables = text.includes('†')
  const hasAssets = /asset:\/\/|asset_id/i.test(text)
  if (!hasVariables && !hasAssets) return []
  const whole = hasVariables ? parseVariableRef(text) : null
  if (whole) return [{ text, variables: variablesIn(whole), assets: [] }]
  const variables = (hasVariables ? variablesInText(text) : []).flatMap((one) => {
    const expression = parseVariableRef(one)
    return expression ? [{ text: one, variables: variablesIn(expression), assets: [] }] : []
  })
  return [...variables, ...(hasAssets ? assetsIn(text) : [])]
}

function assetsIn(text: string): Omit<FoundReference, 'path'>[] {
  if (isAssetRef(text)) return [namedAsset(text.trim(), text)].flat()
  const marked = findEmbeddedRefs(text).flatMap(({ start, end, ref }) =>
    namedAsset(text.slice(start + 2, end - 2).trim(), ref),
  )
  const bare = [...text.matchAll(ADDRESS)].flatMap(([url]) => namedAsset(url, url))
  // An address between marks is found both ways.
  const known = new Set(marked.map((one) => one.text))
  return [...marked, ...bare.filter((one) => !known.has(one.text))]
}

function namedAsset(text: string, ref: string | AssetRef): Omit<FoundReference, 'path'>[] {
  const parts = parseAssetRef(ref)
  return parts ? [{ text, variables: [], assets: [parts] }] : []
}
