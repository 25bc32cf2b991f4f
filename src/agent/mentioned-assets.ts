import type { AssetInfo } from '../assets/asset-info.ts'
import type { Assets } from '../assets/assets-contract.ts'
import { inParallel } from '../assets/in-parallel.ts'
import type { Message } from '../content/message.ts'
import { readParts } from '../content/message-parts.ts'
import { ByrefError } from '../errors.ts'
import { type AssetRef, formatAssetRef, isAssetRef, parseAssetRef } from '../refs/asset-ref.ts'
import { findEmbeddedRefs } from '../refs/embedded-refs.ts'

const INFOS_AT_ONCE = 16
const UNKNOWN: ReadonlySet<string> = new Set(['asset_not_found', 'invalid_reference'])

/**
 * The assets that a message's content names, each once in its order. What is named and does not exist is left out: it is
 * shown as it is written, or as unresolved.
 */
export async function mentionedAssets(
  message: Pick<Message, 'content' | 'content_type'>,
  assets: Pick<Assets, 'info'>,
): Promise<AssetInfo[]> {
  const refs = namesIn(message)
  const found = new Map<string, AssetInfo>()
  await inParallel([...refs], { limit: INFOS_AT_ONCE }, async (ref) => {
    try {
      found.set(ref, await assets.info(ref))
    } catch (error) {
      if (!(error instanceof ByrefError && UNKNOWN.has(error.code))) throw error
    }
  })
  // In the order of the message, whichever answered first.
  return [...refs].flatMap((ref) => found.get(ref) ?? [])
}

/** The references that a message's content names: in its text between marks, in its parts, as a whole. */
function namesIn({
  content,
  content_type,
}: Pick<Message, 'content' | 'content_type'>): Set<string> {
  if (content_type === 'asset_ref') return new Set(wholeRefs([content]))
  if (content_type === 'data') return new Set()
  const parts = typeof content === 'string' ? [content] : content
  return new Set(
    readParts(parts).flatMap((part) =>
      part.type === 'media'
        ? wholeRefs([part.ref])
        : wholeRefs(findEmbeddedRefs(part.text).map(({ ref }) => ref)),
    ),
  )
}

/** References to the assets themselves, whatever fields of them are named. */
function wholeRefs(refs: readonly unknown[]): string[] {
  return refs.flatMap((ref) => {
    const parts = isAssetRef(ref) ? parseAssetRef(ref as AssetRef) : null
    return parts ? formatAssetRef({ ...parts, fieldPath: [] }) : []
  })
}
