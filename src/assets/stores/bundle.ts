import type { AssetAttributes, StoreSaveOptions } from '../asset-store.ts'
import { decodeBase64 } from '../bodies/data-url.ts'
import { isJsonType } from '../bodies/mime-type.ts'

/** The type under which a small store sees structured content. */
export const BUNDLE_TYPE = 'application/vnd.byref.asset+json'

/** Structured content with everything that belongs to it. */
export interface Bundle {
  body: Uint8Array
  mime: string
  attributes: AssetAttributes
  parts: Map<string, Uint8Array>
  /** As it was saved; null for a body that does not say it. */
  namespace: string | null
  expiresAt: string | null
}

/** One JSON document of a body, what is said of it, and its parts. */
export function bundle(
  body: Uint8Array,
  mime: string,
  options: Pick<StoreSaveOptions, 'attributes' | 'parts' | 'namespace' | 'expiresAt'>,
): Uint8Array {
  const parts = (options.parts ?? []).map(({ digest, bytes }) => [
    digest,
    Buffer.from(bytes).toString('base64'),
  ])
  const document = {
    version: 1,
    mime,
    attributes: options.attributes ?? {},
    namespace: options.namespace ?? null,
    expiresAt: options.expiresAt ?? null,
    parts: Object.fromEntries(parts),
    body: Buffer.from(body).toString(encodingOf(mime)),
  }
  return Buffer.from(JSON.stringify(document))
}

/** What {@link bundle} made; any other body as it is. */
export function unbundle(stored: { bytes: Uint8Array; mime: string }): Bundle {
  const { bytes, mime } = stored
  if (mime !== BUNDLE_TYPE) {
    return { body: bytes, mime, attributes: {}, parts: new Map(), namespace: null, expiresAt: null }
  }
  const document = JSON.parse(Buffer.from(bytes).toString('utf8'))
  const parts = Object.entries(document.parts).map(
    ([digest, text]) => [digest, decodeBase64(String(text)) ?? new Uint8Array()] as const,
  )
  return {
    body: Buffer.from(document.body, encodingOf(document.mime)),
    mime: document.mime,
    attributes: document.attributes,
    parts: new Map(parts),
    namespace: document.namespace ?? null,
    expiresAt: document.expiresAt ?? null,
  }
}

/** Tables are no text. */
function encodingOf(mime: string): 'utf8' | 'base64' {
  return isJsonType(mime) ? 'utf8' : 'base64'
}
