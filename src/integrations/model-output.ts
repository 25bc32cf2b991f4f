import type { Tool } from 'ai'
import { kindOf } from '../assets/bodies/mime-type.ts'

/** What the AI SDK shows a model as the result of a call. */
export type ModelOutput = Awaited<ReturnType<NonNullable<Tool['toModelOutput']>>>

/** The value of an output. Content is a list of its parts, with a reference in place of each stored file. */
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

/** Returns the URL of a file as it was written; null if its data is not a URL. */
export function urlOf(data: unknown): string | null {
  const { type, url, originalUrl } = Object(data)
  return type === 'url' && url ? (originalUrl ?? url.href) : null
}

/** Returns whether the data of a file are the URL of an asset. */
export function isAssetUrl(data: unknown): boolean {
  return urlOf(data)?.startsWith('asset:') === true
}
