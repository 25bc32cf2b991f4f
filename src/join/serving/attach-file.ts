import type { Assets } from '../../assets/assets-contract.ts'

/** A file that came in a request. */
export interface SentFile {
  /** Its bytes, or these in Base64. */
  data: string | Uint8Array
  mime?: string | null
  name?: string
}

/** Saves a file that somebody sent, a table as one, and gives it as an attachment. Throws what `importFile` throws. */
export async function attachFile(
  assets: Assets,
  { data, mime = null, name = '' }: SentFile,
): Promise<{ assetRef: string }> {
  const body = typeof data === 'string' ? Buffer.from(data, 'base64') : data
  const { asset, table } = await assets.importFile(body, { name, mime, by: 'user' })
  return { assetRef: (table ?? asset).ref }
}
