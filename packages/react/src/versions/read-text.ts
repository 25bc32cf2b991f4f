import { queryOptions } from '@tanstack/react-query'
import type { AssetInfo, Client } from 'byref/client'
import { isText } from '../preview/text-preview.tsx'

/** Bytes of a text that is compared. */
export const MOST_BYTES = 6_000_000

/** Loads an asset as text. Null if its bytes are not text. */
export function wholeTextQuery(client: Client, asset: AssetInfo) {
  return queryOptions({
    queryKey: ['whole text', asset.assetId],
    queryFn: async ({ signal }) => {
      const response = await client.assetContent(asset.ref, { signal })
      const bytes = new Uint8Array(await response.arrayBuffer())
      return decode(bytes, !isText(asset.mime))
    },
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 60_000,
  })
}

/** Returns the text in these bytes: UTF-16 with a byte order mark, otherwise UTF-8. `isGuess` returns null for other bytes. */
export function decode(bytes: Uint8Array, isGuess: boolean): string | null {
  const [first, second] = bytes
  if (first === 0xff && second === 0xfe) return new TextDecoder('utf-16le').decode(bytes)
  if (first === 0xfe && second === 0xff) return new TextDecoder('utf-16be').decode(bytes)
  if (!isGuess) return new TextDecoder().decode(bytes)
  if (bytes.includes(0)) return null
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return null
  }
}
