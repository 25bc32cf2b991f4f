import type { AssetCreated, ConversationState, RunState } from 'byref/client'

/** What references kept out of the prompt of an answer. */
export interface Saved {
  /** The size of the files and stored values, in bytes. */
  bytes: number
  /** The tokens of the prompt. Null if the provider did not count them. */
  tokens: number | null
  /** Estimate of the tokens that the prompt would have with these files and values in it. */
  tokensByValue: number | null
}

/** Estimate for text and JSON of which only the size is known. */
export const BYTES_PER_TOKEN = 4

/** Smaller sums are not shown, in bytes. */
const SMALL = 4_000

const known = new WeakMap<RunState, Saved | null>()

/**
 * Returns what references saved in the last prompt of a run, or null if it was little. Images, audio, video and PDF do
 * not count: a model may have seen them, and providers bill them in other ways.
 */
export function savedIn(
  state: Pick<ConversationState, 'assets' | 'assetsAfter' | 'messages'>,
  run: RunState,
): Saved | null {
  if (run.status === 'running') return null
  // A run that has ended does not change.
  const found = known.get(run)
  if (found !== undefined) return found
  const saved = compute(state, run)
  known.set(run, saved)
  return saved
}

function compute(
  { assets, assetsAfter, messages }: Pick<ConversationState, 'assets' | 'assetsAfter' | 'messages'>,
  { steps }: RunState,
): Saved | null {
  const step = steps.at(-1)
  if (!step) return null
  const place = messages.findLastIndex(({ id }) => id === step.messageId)
  const there = assets.filter((asset, i) => isText(asset) && (assetsAfter[i] ?? 0) <= place)
  const sizes = new Map(there.map(({ assetId, digest, size = 0 }) => [digest ?? assetId, size]))
  const bytes = [...sizes.values()].reduce((sum, size) => sum + size, 0)
  if (bytes < SMALL) return null
  const tokens = step.usage?.inputTokens ?? null
  const tokensByValue = tokens === null ? null : tokens + Math.round(bytes / BYTES_PER_TOKEN)
  return { bytes, tokens, tokensByValue }
}

function isText({ kind, mime }: AssetCreated): boolean {
  return kind === 'file' && mime !== 'application/pdf'
}
