import { createClient } from 'byref/client'
import { createServer } from '../app/server.ts'
import { keepDraft } from '../composer/drafts.ts'

/** The client of the tests. */
export const client = createClient()

/** The server of the tests, which `renderInApp` provides. */
export const server = createServer(client, { filesUrl: '/' })

/** Forgets unsent messages and their files, and the messages of the app. Test files share one server. */
export function resetServer(): void {
  for (const place of ['', 'c1']) keepDraft(place, '')
  server.outbox.clear()
  server.attachedFiles.clear()
  server.toasts.clear()
}
