import { useEffect, useState } from 'react'

const drafts = new Map<string, string>()

/** Returns the unsent text of a conversation. Null is the conversation that has not started. */
export function readDraft(conversation: string | null): string {
  return drafts.get(conversation ?? '') ?? ''
}

/** Keeps unsent text, also when the page is loaded again. */
export function keepDraft(conversation: string | null, text: string): void {
  const key = conversation ?? ''
  if (text === '') drafts.delete(key)
  else drafts.set(key, text)
  try {
    if (text === '') sessionStorage.removeItem(nameOf(key))
    else sessionStorage.setItem(nameOf(key), text)
  } catch {
    // Without storage, the text lasts until the page is closed.
  }
}

/** Returns the unsent text of a conversation, and its setter. */
export function useDraft(conversation: string | null) {
  const [text, setText] = useState(() => readDraft(conversation))
  // The first rendering is that of a server, which has no storage.
  useEffect(() => setText((now) => now || storedDraft(conversation ?? '')), [conversation])
  useEffect(() => keepDraft(conversation, text), [conversation, text])
  return [text, setText] as const
}

function storedDraft(key: string): string {
  try {
    return sessionStorage.getItem(nameOf(key)) ?? ''
  } catch {
    return ''
  }
}

function nameOf(key: string): string {
  return `byref-draft ${key}`
}
