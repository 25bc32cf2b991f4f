import type { ConversationState } from 'byref/client'

/** What references kept out of a prompt. */
export interface Savings {
  /** How many assets were there when the model was asked. */
  assets: number
  /** What the prompt would take in bytes with their bodies in it: files as Base64, structured content as it is. */
  byValue: number
}

/**
 * What the prompt of a step would be if each result and file stood in it by value, as other frameworks write it:
 * `promptBytes` without what media in it take already.
 */
export function savingsOf(
  { assets, assetsAfter, messages }: Pick<ConversationState, 'assets' | 'assetsAfter' | 'messages'>,
  stepMessageId: string,
  { promptBytes, mediaBytes }: { promptBytes: number; mediaBytes: number },
): Savings {
  const place = messages.findIndex(({ id }) => id === stepMessageId)
  const until = place < 0 ? messages.length : place
  const there = assets.filter((_, index) => (assetsAfter[index] ?? 0) <= until)
  const bodies = new Map(
    there.map(({ assetId, digest, size = 0, structured }) => {
      return [digest ?? assetId, structured ? size : Math.ceil(size / 3) * 4]
    }),
  )
  const sum = [...bodies.values()].reduce((a, b) => a + b, 0)
  return { assets: there.length, byValue: promptBytes - mediaBytes + Math.max(sum, mediaBytes) }
}
