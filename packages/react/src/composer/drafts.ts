import { useCallback, useLayoutEffect, useState, useSyncExternalStore } from 'react'
import { Listeners } from '../ui/listeners.ts'

const drafts = new Map<string, string>()
const listeners = new Listeners()

/** The places of new conversations on the page. */
const taken = new Set<string>()

/**
 * Returns where the unsent message of a conversation is kept. Each new conversation on the page has its own place, the
 * same one after the page is loaded again.
 */
export function useDraftPlace(conversation: string | null): string {
  const [own, setOwn] = useState('')
  useLayoutEffect(() => {
    if (conversation !== null) return
    let place = ''
    for (let number = 2; taken.has(place); number += 1) place = `#${number}`
    taken.add(place)
    setOwn(place)
    return () => {
      taken.delete(place)
    }
  }, [conversation])
  return conversation ?? own
}

/** Returns the unsent text at a place. */
export function readDraft(place: string): string {
  const known = drafts.get(place) ?? storedDraft(place)
  drafts.set(place, known)
  return known
}

/** Keeps unsent text, also when the page is loaded again. */
export function keepDraft(place: string, text: string): void {
  drafts.set(place, text)
  try {
    if (text === '') sessionStorage.removeItem(nameOf(place))
    else sessionStorage.setItem(nameOf(place), text)
  } catch {
    // Without storage, the text lasts until the page is closed.
  }
  listeners.tell()
}

/** Returns the unsent text at a place, and its setter. */
export function useDraft(place: string) {
  // A server has no storage.
  const text = useSyncExternalStore(
    listeners.subscribe,
    () => readDraft(place),
    () => '',
  )
  const setText = useCallback(
    (next: string | ((now: string) => string)) =>
      keepDraft(place, typeof next === 'string' ? next : next(readDraft(place))),
    [place],
  )
  return [text, setText] as const
}

function storedDraft(place: string): string {
  try {
    return sessionStorage.getItem(nameOf(place)) ?? ''
  } catch {
    return ''
  }
}

function nameOf(place: string): string {
  return `byref-draft ${place}`
}
