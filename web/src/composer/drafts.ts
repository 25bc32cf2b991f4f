const drafts = new Map<string, string>()

/** What was written and not sent in a conversation; null is the one that has not begun. */
export function readDraft(conversation: string | null): string {
  return drafts.get(conversation ?? '') ?? ''
}

/** Keeps what is written for as long as the page lives. */
export function keepDraft(conversation: string | null, text: string): void {
  if (text === '') drafts.delete(conversation ?? '')
  else drafts.set(conversation ?? '', text)
}
