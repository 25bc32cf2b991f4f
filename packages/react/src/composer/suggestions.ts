import type { Attachment } from 'byref/client'

/** An asset to attach: its reference and name. */
export type SuggestedAsset = Pick<Attachment, 'assetRef' | 'fileName'>

/** A proposal for the next message by another part of the page. */
export type Suggestion =
  | { type: 'text'; text: string }
  | { type: 'files' }
  | { type: 'attach'; file: File }
  | { type: 'reference'; asset: SuggestedAsset; replaces: readonly string[] }

type Listener = (suggestion: Suggestion) => void

const listeners = new Set<Listener>()

/** A suggestion for the next composer that is shown. */
let waiting: Suggestion | null = null

/** Puts a text into the composer, for a person to finish and send. */
export function suggest(text: string): void {
  for (const listener of listeners) listener({ type: 'text', text })
}

/** Opens the composer's file picker. */
export function pickFiles(): void {
  for (const listener of listeners) listener({ type: 'files' })
}

/** Attaches a file to the next message. Without a composer, the next one that is shown takes it. */
export function attach(file: File): void {
  const suggestion = { type: 'attach', file } as const
  if (listeners.size === 0) waiting = suggestion
  for (const listener of listeners) listener(suggestion)
}

/**
 * Attaches an asset to the next message, in place of the assets with the ids `replaces`. Returns whether there is a
 * composer. With `waits`, the next composer that is shown takes it.
 */
export function suggestReference(
  asset: SuggestedAsset,
  replaces: readonly string[],
  { waits = false } = {},
): boolean {
  const suggestion = { type: 'reference', asset, replaces } as const
  if (waits && listeners.size === 0) waiting = suggestion
  for (const listener of listeners) listener(suggestion)
  return listeners.size > 0
}

/** Subscribes to suggestions. Returns the function that ends the subscription. */
export function onSuggestion(listener: Listener): () => void {
  listeners.add(listener)
  if (waiting) listener(waiting)
  waiting = null
  return () => listeners.delete(listener)
}
