import { createClient } from 'byref/client'

/** The one client of the page's own server. A page that was saved has another one in its place (`offline/api.ts`). */
export const client = createClient()

/** Whether the page has no server: it shows what was saved with it. */
export const isOffline = false as boolean

/** Whether debug data were saved with a page that has no server. */
export const hasSavedDebug = false as boolean
