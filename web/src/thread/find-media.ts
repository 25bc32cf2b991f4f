/** A file within a result, as extraction leaves it there. */
export interface Media {
  ref: string
  kind: string
  name?: string
}

const MOST = 24

/** Every `{ assetRef, mimeType, kind }` within a value, each once, the first 24 in order. */
export function findMedia(value: unknown): Media[] {
  const found = new Map<string, Media>()
  const seen = new Set<object>()
  const open: unknown[] = [value]
  while (open.length > 0 && found.size < MOST && seen.size < 20_000) {
    const next = open.pop()
    if (typeof next !== 'object' || next === null || seen.has(next)) continue
    seen.add(next)
    const { assetRef, mimeType, kind, fileName, name } = next as Record<string, unknown>
    if (typeof assetRef === 'string' && typeof mimeType === 'string') {
      const called = [fileName, name].find((text) => typeof text === 'string')
      found.set(assetRef, { ref: assetRef, kind: String(kind ?? 'file'), name: called })
    }
    open.push(...Object.values(next).slice(0, 1_000).reverse())
  }
  return [...found.values()]
}
