import { queryOptions } from '@tanstack/react-query'
import type { Client } from 'byref/client'
import { readStart } from './read-start.ts'

/** Loads one field of an asset, at most `limit` bytes. `cut` means that there are more. */
export function fieldQuery(client: Client, reference: string, limit: number) {
  return queryOptions({
    queryKey: ['field', reference, limit],
    queryFn: async ({ signal }) => {
      const response = await client.assetContent(reference, { signal })
      const isJson = response.headers.get('content-type')?.includes('json') ?? false
      const { text, cut } = await readStart(response, limit)
      return { value: isJson && !cut ? (JSON.parse(text) as unknown) : text, cut }
    },
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 60_000,
  })
}
