import {
  type AssetRefParts,
  findEmbeddedRefs,
  formatAssetRef,
  formatLabel,
  isAssetRef,
  parseAssetRef,
  parseVariableRef,
  type VariableExpression,
} from 'byref/client'

/** Whether a whole value is an asset URL. */
export function isAsset(value: unknown): value is string {
  return typeof value === 'string' && isAssetRef(value)
}

/** Whether a whole value is a variable reference, or an expression of them. */
export function isVariable(value: unknown): value is string {
  return typeof value === 'string' && value.includes('†') && parseVariableRef(value) !== null
}

/** The parts of an asset URL; null where it is none. */
export function parse(reference: string): AssetRefParts | null {
  return parseAssetRef(reference)
}

/** The references between `<|` and `|>` in a text, as URLs; of a literal text those within code too. */
export function findEmbedded(
  text: string,
  options?: { markdown: boolean },
): { start: number; end: number; url: string }[] {
  return findEmbeddedRefs(text, options).flatMap(({ start, end, ref }) => {
    const parts = parseAssetRef(ref)
    return parts ? [{ start, end, url: formatAssetRef(parts) }] : []
  })
}

/** The kind and instance that a variable reference begins with: `state#a` of `†state#a.total`. */
export function variableName(reference: string): string {
  let next: VariableExpression | null = parseVariableRef(reference)
  while (next && next.type !== 'variable') next = next.of[0] ?? null
  return next ? formatLabel(next.kind, next.instance) : reference
}
