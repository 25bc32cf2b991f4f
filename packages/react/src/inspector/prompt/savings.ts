import type { ConversationState } from 'byref/client'

/** What references saved in a prompt. */
export interface Savings {
  /** The number of assets when the model was called. */
  assets: number
  /** The size of the prompt in bytes with the bodies in it: files as base64, structured content as JSON. */
  byValue: number
}

/**
 * Returns the size that a step's prompt would have with each result and file by value, as other frameworks write it.
 * `promptBytes` does not include its media.
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
