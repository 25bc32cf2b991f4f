import type { EventsPage, LiveConversation } from 'byref/client'
import { readHash } from '../thread/read-hash.ts'
import { client } from './client.ts'

declare global {
  /**
   * The first page of the conversation in the address. It is requested before the app has loaded
   * (web/public/assets/first.js).
   */
  var byrefFirstPage: Promise<EventsPage | null> | undefined
}

let first = openNamed()

/**
 * Returns the conversation that the page was opened with, if it has this id. It may be loaded before the first
 * rendering.
 */
export function firstConversation(id: string | null): LiveConversation | null {
  return first?.id === id ? first : null
}

/**
 * Returns the same as {@link firstConversation}, once. The caller closes it. Null if the server rejected it meanwhile.
 */
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
