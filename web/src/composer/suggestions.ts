type Listener = (text: string) => void

const listeners = new Set<Listener>()

/** Puts a text into the composer for a person to finish and send. */
export function suggest(text: string): void {
  for (const listener of listeners) listener(text)
}

/** Hears of suggested texts; gives back how to stop that. */
export function onSuggestion(listener: Listener): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}
