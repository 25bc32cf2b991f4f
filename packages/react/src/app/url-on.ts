import type { Client } from 'byref/client'

/** Returns the URL of a path on the server of a client. */
export function urlOn(client: Client, path: string): string {
  const [base = ''] = client.assetUrl('asset://a').split('/api/assets/')
  return base + path
}
