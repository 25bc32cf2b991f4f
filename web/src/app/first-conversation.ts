import type { EventsPage, LiveConversation } from 'byref/client'
import { readHash } from '../thread/read-hash.ts'
import { client } from './client.ts'

declare global {
  /** The first page of the conversation in the address, asked for before the app was there (public/assets/first.js). */
  var byrefFirstPage: Promise<EventsPage | null> | undefined
}

let first = openNamed()

/** The conversation that the page was opened with, if it is the one of this id: it may be there before anything is drawn. */
export function firstConversation(id: string | null): LiveConversation | null {
  return first?.id === id ? first : null
}

/** As {@link firstConversation}, once: who takes it closes it. Null where it was refused meanwhile. */
export function takeFirstConversation(id: string): LiveConversation | null {
  const taken = firstConversation(id)
  if (taken) first = null
  return taken?.status === 'closed' ? null : taken
}

function openNamed(): LiveConversation | null {
  const firstPage = globalThis.byrefFirstPage
  if (!firstPage) return null
  const [, , id = ''] = location.pathname.split('/')
  return client.conversation(readHash(id), { firstPage })
}
