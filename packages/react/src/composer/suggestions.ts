/** A proposal for the next message by another part of the page. */
export type Suggestion =
  | { type: 'text'; text: string }
  | { type: 'files' }
  | { type: 'attach'; file: File }

type Listener = (suggestion: Suggestion) => void

const listeners = new Set<Listener>()

/** Puts a text into the composer, for a person to finish and send. */
export function suggest(text: string): void {
  for (const listener of listeners) listener({ type: 'text', text })
}

/** Opens the composer's file picker. */
export function pickFiles(): void {
  for (const listener of listeners) listener({ type: 'files' })
}

/** Attaches a file to the next message. */
export function attach(file: File): void {
  for (const listener of listeners) listener({ type: 'attach', file })
}

/** Subscribes to suggestions. Returns the function that ends the subscription. */
export function onSuggestion(listener: Listener): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}
