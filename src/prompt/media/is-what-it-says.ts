import { essenceOf } from '../../assets/bodies/mime-type.ts'
import { SNIFF_BYTES, sniff } from '../../assets/bodies/sniff.ts'

/** Whether the bytes begin as a body of the type does; of types that no bytes show, always. */
export async function isWhatItSays(head: Uint8Array, mime: string): Promise<boolean> {
  if (!/^(image|audio|video)\/|^application\/pdf$/.test(mime)) return true
  const start = head.subarray(0, SNIFF_BYTES)
  const found = await sniff(start, { complete: start.length === head.length })
  return (
    essenceOf(found) === mime ||
    (essenceOf(await sniff(start, { claim: mime })) === mime &&
      found !== 'application/octet-stream')
  )
}
