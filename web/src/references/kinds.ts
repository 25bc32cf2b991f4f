import type { AssetRefParts, VariableExpression } from 'byref/client'
import { formatLabel, isAssetRef, parseAssetRef, parseVariableRef } from 'byref/client'

/** Whether a whole value is an asset URL. */
export function isAsset(value: unknown): value is string {
  return typeof value === 'string' && isAssetRef(value)
}

/** Whether a whole value is a variable reference, or an expression of them. */
export function isVariable(value: unknown): value is string {
  return typeof value === 'string' && value.includes('†') && parseVariableRef(value) !== null
}
export function parse(ref: string): AssetRefParts | null {
  return parseAssetRef(ref)
}
export function findEmbedded(text: string) {
  return [...text.matchAll(/<\|(asset:\/\/[^|]+)\|>/g)].map((m) => ({
    start: m.index,
    end: m.index + m[0].length,
    url: m[1] as string,
  }))
}

/** The kind and instance that a variable reference begins with: `state#a` of `†state#a.total`. */
export function variableName(reference: string): string {
  const first = firstOf(parseVariableRef(reference))
  return first ? formatLabel(first.kind, first.instance) : reference
}

function firstOf(expression: VariableExpression | null) {
  let next = expression
  while (next && 'of' in next) next = next.of[0] ?? null
  return next
}
