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

/** What the composers on the page do with a suggestion, and their conversations. */
const listeners = new Map<Listener, string | null>()

/** A suggestion for the next composer that is shown. */
let waiting: Suggestion | null = null

/** Puts a text into the composer, for a person to finish and send. */
export function suggest(text: string): void {
  tell({ type: 'text', text })
}

/** Opens the composer's file picker. */
export function pickFiles(): void {
  tell({ type: 'files' })
}

/** Attaches a file to the next message. Without a composer, the next one that is shown takes it. */
export function attach(file: File): void {
  const suggestion = { type: 'attach', file } as const
  if (!tell(suggestion)) waiting = suggestion
}

/**
 * Attaches an asset to the next message of a conversation, in place of the assets with the ids `replaces`. Returns whether
 * there is a composer. Without a conversation, the next composer that is shown takes it.
 */
export function suggestReference(
  asset: SuggestedAsset,
  replaces: readonly string[],
  conversation?: string | null,
): boolean {
  const suggestion = { type: 'reference', asset, replaces } as const
  if (tell(suggestion, conversation)) return true
  if (conversation === undefined) waiting = suggestion
  return false
}

/** Tells the composers of a conversation, by default all of them. Returns whether there are any. */
function tell(suggestion: Suggestion, conversation?: string | null): boolean {
  const told = [...listeners].filter(
    ([, own]) => conversation === undefined || own === conversation,
  )
  for (const [listener] of told) listener(suggestion)
  return told.length > 0
}

/** Subscribes to suggestions for a conversation. Returns the function that ends the subscription. */
export function onSuggestion(conversation: string | null, listener: Listener): () => void {
  listeners.set(listener, conversation)
  if (waiting) listener(waiting)
  waiting = null
  return () => listeners.delete(listener)
}
