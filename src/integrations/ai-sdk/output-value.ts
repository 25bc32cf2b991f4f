import { kindOf } from '../../prompt/bodies-in.ts'
import type { ModelOutput } from './model-output.ts'

/** What an output of a tool stands for: its value, or the parts of its content with references in place of files. */
export function outputValue(output: ModelOutput): unknown {
  if (output.type === 'execution-denied') return output.reason ?? null
  if (output.type !== 'content') return output.value
  const parts = output.value.map((part) => {
    if (part.type === 'text') return part.text
    const assetRef = part.type === 'file' ? urlOf(part.data) : null
    if (part.type !== 'file' || !assetRef) return part
    return { assetRef, mimeType: part.mediaType, kind: kindOf(part.mediaType) }
  })
  return parts.length === 1 ? parts[0] : parts
}

/** The URL that a file's data are, as it was written; null for any other. */
export function urlOf(data: unknown): string | null {
  const { type, url, originalUrl } = Object(data) as {
    type?: string
    url?: URL
    originalUrl?: string
  }
  return type === 'url' && url ? (originalUrl ?? url.href) : null
}
