import { nonce } from '../../nonce.ts'
import type { S3Root } from './records.ts'

/** What the server's clock says, which dates every object; ours where it does not tell. */
export async function serverTime({ connector, bucket, keyPrefix }: S3Root): Promise<number> {
  const key = `${keyPrefix}staging/clock-${nonce()}`
  await connector.put({ bucket, key, body: new Uint8Array(), contentType: 'text/plain' })
  const found = await connector.head({ bucket, key })
  await connector.delete({ bucket, key })
  return found?.modifiedAt || Date.now()
}
