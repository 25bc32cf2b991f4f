import { ApiError, type OutgoingMessage } from 'byref/client'
import { useRef } from 'react'
import { useConversationId } from '../app/conversation-context.tsx'
import { useServer } from '../app/server.ts'

/**
 * Returns a function that sends a message and resolves to the id of its conversation, which the first message creates.
 * After a failure, the same message keeps its id: it is sent once, also if only the answer of the server was lost.
 */
export function useSend(): (
  message: OutgoingMessage,
  ifBusy: 'queue' | 'steer',
) => Promise<string> {
  const { client } = useServer()
  const id = useConversationId()
  const created = useRef<string | null>(null)
  const failed = useRef<{ said: string; id: string } | null>(null)
  return async (message, ifBusy) => {
    const conversation = id ?? created.current ?? (await client.createConversation()).id
    created.current = conversation
    const said = JSON.stringify(message)
    const again = failed.current?.said === said ? failed.current : { said, id: newMessageId() }
    failed.current = again
    try {
      await client.send(conversation, { ...message, id: again.id }, { ifBusy })
    } catch (error) {
      const isThere = error instanceof ApiError && error.code === 'message_exists'
      if (!isThere) throw error
    }
    failed.current = null
    return conversation
  }
}

const sentHere = new Set<string>()

/** Returns whether this page sent the message with this id. */
export function isSentHere(id: string): boolean {
  return sentHere.has(id)
}

/** Returns the id of a message that this page sends. `crypto.randomUUID` is only on pages with HTTPS. */
export function newMessageId(): string {
  const id = crypto.getRandomValues(new Uint32Array(4)).join('-')
  sentHere.add(id)
  return id
}
