import type { Assets } from '../../assets/assets-contract.ts'
import { decodeBase64, decodeDataUrl, parseDataUrl } from '../../assets/bodies/data-url.ts'
import { ByrefError } from '../../core/errors.ts'
import { isPlainObject } from '../../core/json/json.ts'
import { canonicalPart, partType } from '../../core/messages/canonical-part.ts'

/**
 * Saves the files in a message, and the tables in them as tables. Returns the other parts, with the files as
 * attachments. A part stays as it is if it is not a file, or if its file is elsewhere.
 *
 * @throws ByrefError `bad_request` for a file that cannot be decoded; what `importFile` throws
 */
export async function saveSentFiles(parts: readonly unknown[], assets: Assets) {
  const saved = await Promise.all(parts.map((part) => saveSentFile(part, assets)))
  const attachments = saved.flatMap((assetRef) => (assetRef === null ? [] : [{ assetRef }]))
  return { content: parts.filter((_, i) => saved[i] === null), metadata: { attachments } }
}

/**
 * Saves the file in a part. Resolves to the reference of its table, or else of the file. Null if the part has no file.
 *
 * @throws ByrefError `bad_request` for a file that cannot be decoded; what `importFile` throws
 */
export async function saveSentFile(given: unknown, assets: Assets): Promise<string | null> {
  const part = Object(canonicalPart(given)) as Record<string, unknown>
  const { url, filename } = Object(part[partType(part)])
  const body = bodyOf(url)
  if (!body) return null
  const { bytes, mime } = body
  if (!bytes) {
    const name = filename === undefined ? 'A file' : `The file "${filename}"`
    const message = `${name} cannot be decoded: send it as base64, as a data URL such as data:text/plain;base64,SGk=, or as a URL`
    throw new ByrefError('bad_request', message)
  }
  const { asset, table, workbook } = await assets.importFile(bytes, {
    name: filename ?? '',
    mime,
    by: 'user',
  })
  return (workbook ?? table ?? asset).ref
}

/**
 * Returns the bytes of a data URL or of base64, also with a name. Null for any other URL. `bytes` is null if the text is
 * not valid.
 */
function bodyOf(url: unknown): { bytes: Uint8Array | null; mime: string | null } | null {
  if (isPlainObject(url)) {
    const { dataUrl, dataBase64, mimeType } = url
    if (typeof dataUrl === 'string') return bodyOf(dataUrl)
    if (typeof dataBase64 !== 'string') return null
    // The default MIME type says nothing, so the bytes and the name decide.
    const mime = mimeType === 'application/octet-stream' ? null : String(mimeType)
    return { bytes: decodeBase64(dataBase64), mime }
  }
  if (typeof url !== 'string' || !/^data:/i.test(url)) return null
  const found = parseDataUrl(url)
  return { bytes: found && decodeDataUrl(found), mime: found?.mime ?? null }
}
