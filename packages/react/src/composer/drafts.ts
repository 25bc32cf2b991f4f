const drafts = new Map<string, string>()

/** Returns the unsent text of a conversation. Null is the conversation that has not started. */
export function readDraft(conversation: string | null): string {
  return drafts.get(conversation ?? '') ?? ''
}

/** Keeps unsent text until the page is closed. */
export function keepDraft(conversation: string | null, text: string): void {
  if (text === '') drafts.delete(conversation ?? '')
  else drafts.set(conversation ?? '', text)
}
