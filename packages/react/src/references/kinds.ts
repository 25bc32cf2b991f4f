import {
  findEmbeddedRefs,
  formatAssetRef,
  formatIdentity,
  isAssetRef,
  parseAssetRef,
  parseVariableRef,
  type VariableExpression,
} from 'byref/client'

/** Returns whether a whole value is an asset URL. */
export function isAsset(value: unknown): value is string {
  return typeof value === 'string' && isAssetRef(value)
}

/** Returns whether a whole value is a variable reference, or an expression of them. */
export function isVariable(value: unknown): value is string {
  return typeof value === 'string' && value.includes('†') && parseVariableRef(value) !== null
}

/** Returns the references between `<|` and `|>` in a text, as URLs. In literal text, references in code count, too. */
export function findEmbedded(
  text: string,
  options?: { markdown: boolean },
): { start: number; end: number; url: string }[] {
  return findEmbeddedRefs(text, options).flatMap(({ start, end, ref }) => {
    const parts = parseAssetRef(ref)
    return parts ? [{ start, end, url: formatAssetRef(parts) }] : []
  })
}

/** Returns the URLs of the assets that a value names, in its texts, too. Each once, and at most `most`. */
export function assetsNamedIn(value: unknown, most: number): string[] {
  const found = new Set<string>()
  const waiting: unknown[] = [value]
  for (const one of waiting) {
    if (found.size >= most || waiting.length > 10_000) break
    if (isAsset(one)) found.add(one.trim())
    else if (typeof one === 'string') {
      for (const { url } of findEmbedded(one, { markdown: false })) found.add(url)
    } else if (typeof one === 'object' && one !== null) waiting.push(...Object.values(one))
  }
  return [...found].slice(0, most)
}

/** Returns the kind and instance at the start of a variable reference: `state#a` of `†state#a.total`. */
export function variableName(reference: string): string {
  let next: VariableExpression | null = parseVariableRef(reference)
  while (next && next.type !== 'variable') next = next.of[0] ?? null
  return next ? formatIdentity(next.kind, next.instance) : reference
}
