import type { ApiError } from 'byref/client'
import { useEffect } from 'react'
import { useConnection, useConversation } from '../app/conversation-context.tsx'
import { needsLogin } from '../app/live-conversations.ts'
import { useServer } from '../app/server.ts'
import { Button } from '../ui/button.tsx'
import { Notice } from '../ui/notice.tsx'

/** Shows when the page does not follow the conversation, and why. Renders nothing while it does. */
export function Connection() {
  const { noticeSignOut, conversations } = useServer()
  const { status, error, reconnect } = useConnection()
  const empty = useConversation((state) => state.messages.length === 0)
  useEffect(() => noticeSignOut(error), [error, noticeSignOut])
  const isSignedOut = error !== null && needsLogin({ status, error })
  // Login forms are often on another page, or in another tab.
  useEffect(() => {
    if (!isSignedOut) return
    addEventListener('focus', conversations.reconnect)
    return () => removeEventListener('focus', conversations.reconnect)
  }, [isSignedOut, conversations])
  if (!error) return null
  if (status === 'closed') {
    const isGone = error.code === 'conversation_not_found'
    return (
      <div className="order-first shrink-0 p-3">
        <Notice
          tone="bad"
          code={error.code}
          live
          className="mx-auto max-w-2xl"
          actions={
            !isGone && (
              <Button look="outline" onClick={reconnect}>
                Try again
              </Button>
            )
          }
        >
          {closedText(error, empty)}
        </Notice>
      </div>
    )
  }
  return (
    <div className="pointer-events-none absolute inset-x-0 top-2 z-10 flex justify-center">
      <p
        role="status"
        className="rounded-full border border-variable-line bg-warn-soft px-3 py-1 text-xs font-medium text-warn shadow-float"
      >
        {empty ? 'The server does not answer. Trying again…' : 'Connection lost. Reconnecting…'}
      </p>
    </div>
  )
}

function closedText({ code, status, message }: ApiError, isEmpty: boolean): string {
  if (code === 'conversation_not_found') {
    return isEmpty
      ? 'This conversation does not exist. Somebody deleted it, or its id is wrong.'
      : 'Somebody deleted this conversation. Its content cannot be restored.'
  }
  if (status === 401) {
    return 'Your login is missing or has expired. Log in again, and this conversation continues.'
  }
  return `This page no longer follows the conversation. Nothing is lost: try again to see all of it. ${message}`
}
