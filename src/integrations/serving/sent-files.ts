import type { Assets } from '../../assets/assets-contract.ts'
import { decodeBase64, decodeDataUrl, parseDataUrl } from '../../assets/bodies/data-url.ts'
import { isPlainObject } from '../../core/json/json.ts'
import { canonicalPart, partType } from '../../core/messages/canonical-part.ts'

/** A message in parts, without the files that were in it: these are its attachments. */
export interface PartsAndFiles {
  content: unknown[]
  metadata: { attachments: { assetRef: string }[] }
}

/**
 * Saves the files that somebody sent within a message, tables as tables. What is elsewhere, or is no file, stays a part.
 *
 * @throws what `importFile` throws
 */
export async function saveSentFiles(
  parts: readonly unknown[],
  assets: Assets,
): Promise<PartsAndFiles> {
  const saved = await Promise.all(parts.map((part) => save(part, assets)))
  const attachments = saved.flatMap((assetRef) => (assetRef === null ? [] : [{ assetRef }]))
  return { content: parts.filter((_, i) => saved[i] === null), metadata: { attachments } }
}

async function save(part: unknown, assets: Assets): Promise<string | null> {
  const { type, ...known } = Object(canonicalPart(part)) as Record<string, unknown>
  const { url, filename } = Object(known[partType({ type })]) as {
    url?: unknown
    filename?: string
  }
  const body = bodyOf(url)
  if (!body) return null
  const { bytes, mime } = body
  const { asset, table, workbook } = await assets.importFile(bytes, {
    name: filename ?? '',
    mime,
    by: 'user',
  })
  return (workbook ?? table ?? asset).ref
}

/** The bytes of a data URL or of base64; null for what is elsewhere. */
function bodyOf(url: unknown): { bytes: Uint8Array; mime: string | null } | null {
  if (isPlainObject(url)) {
    const { dataBase64, mimeType } = url
    const bytes = typeof dataBase64 === 'string' ? decodeBase64(dataBase64) : null
    // What nobody named is what its bytes and its name say.
    const mime = mimeType === 'application/octet-stream' ? null : String(mimeType)
    return bytes && { bytes, mime }
  }
  const found = typeof url === 'string' ? parseDataUrl(url) : null
  const bytes = found && decodeDataUrl(found)
  return found && bytes && { bytes, mime: found.mime }
}
