import type { AssetRecord, FullAssetStore } from './asset-store.ts'
import { chunksOf, peek } from './bodies/body.ts'
import { decodedText, markedEncoding } from './bodies/text-encoding.ts'
import { namedAssets } from './named-assets.ts'

/** Ids of the assets that an asset's content refers to. */
export type ReferenceReader = (record: AssetRecord) => Promise<Iterable<string>>

/** Types of files that may have references in their text. */
const TEXT = /^(text\/|application\/(json|xml|x-ndjson|javascript)|[^;]+\+(json|xml)(;|$))/
/** No reference is longer: what a chunk ends with may be the beginning of one. */
const LONGEST = 4 * 1024

/**
 * Reads what assets refer to: structured content says it in its record; a file that is text is read, chunk by chunk,
 * once for each body.
 */
export function createReferenceReader(
  store: FullAssetStore,
  signal?: AbortSignal,
): ReferenceReader {
  const byDigest = new Map<string, Promise<Set<string>>>()
  return async (record) => {
    const { references, structured } = record.attributes
    if (structured || references) return references ?? []
    if (!TEXT.test(record.mime)) return []
    const known = byDigest.get(record.digest) ?? readText(store, record, signal)
    byDigest.set(record.digest, known)
    return known
  }
}

async function readText(
  store: FullAssetStore,
  { assetId, namespace }: AssetRecord,
  signal: AbortSignal | undefined,
): Promise<Set<string>> {
  const found = new Set<string>()
  const opened = await store.open(assetId, { namespace, keep: true, signal })
  if (!opened) return found
  const { head, body } = await peek(opened.stream, 2)
  let rest = ''
  for await (const text of decodedText(chunksOf(body), markedEncoding(head))) {
    const chunk = rest + text
    for (const id of namedAssets(chunk, { bareIds: false })) found.add(id)
    rest = chunk.slice(-LONGEST)
  }
  return found
}
