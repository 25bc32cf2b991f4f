/** A file in a result, as extraction leaves it there. */
export interface Media {
  ref: string
  kind: string
  /** What it shows: its own title or name, or else the title of its container. */
  title?: string
}

const MOST = 24

const TITLES = ['title', 'caption', 'alt', 'fileName', 'name'] as const

/** Returns every `{ assetRef, mimeType, kind }` in a value once, at most the first 24. */
export function findMedia(value: unknown): Media[] {
  const found = new Map<string, Media>()
  const seen = new Set<object>()
  const open: { value: unknown; title?: string }[] = [{ value }]
  while (open.length > 0 && found.size < MOST && seen.size < 20_000) {
    const next = open.pop()
    if (typeof next?.value !== 'object' || next.value === null || seen.has(next.value)) continue
    const fields = next.value as Record<string, unknown>
    seen.add(fields)
    const { assetRef, mimeType, kind } = fields
    const own = TITLES.map((key) => fields[key]).find(isTitle)
    if (typeof assetRef === 'string' && typeof mimeType === 'string') {
      found.set(assetRef, { ref: assetRef, kind: String(kind ?? 'file'), title: own ?? next.title })
    }
    const title = [fields.title, fields.caption].find(isTitle) ?? next.title
    const inner = Object.values(fields).slice(0, 1_000).reverse()
    open.push(...inner.map((item) => ({ value: item, title })))
  }
  return [...found.values()]
}

function isTitle(value: unknown): value is string {
  return typeof value === 'string' && value.trim() !== ''
}
