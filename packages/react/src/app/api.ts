import { createClient } from 'byref/client'

/** The client of the page's own server. In a saved page, another client replaces it (`web/src/offline/api.ts`). */
export const client = createClient()

/** Whether the page has no server and shows saved data. */
export const isOffline = false as boolean

/** Whether a saved page contains debug data. */
export const hasSavedDebug = false as boolean
