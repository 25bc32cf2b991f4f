import { ApiError, type OutgoingMessage } from 'byref/client'
import { useEffect, useRef, useSyncExternalStore } from 'react'
import { useConversationId } from '../app/conversation-context.tsx'
import { useNavigation } from '../app/navigation.tsx'
import { useServer } from '../app/server.ts'
import { errorText } from '../ui/error-text.ts'
import { attachmentsOf } from './attached-files.ts'
import { keepDraft, readDraft } from './drafts.ts'
import type { Outgoing } from './outbox.ts'

type IfBusy = 'queue' | 'steer'

/**
 * Returns what happens with the unsent message at a place, and functions to send it. `send` waits for its files, also
 * while another conversation is shown. The first message creates its conversation, and opens it if the form is still
 * shown. After a failure, the same message keeps its id: it is sent once, also if only the answer of the server was lost.
 */
export function useSend(place: string): Pick<Outgoing, 'status' | 'problem'> & {
  send: (ifBusy: IfBusy) => Promise<void>
  /** The message no longer waits for its files: a person sends it. */
  release: () => void
  dismissProblem: () => void
} {
  const { attachedFiles: files, client, forgetConversations, outbox, tellError } = useServer()
  const id = useConversationId()
  const { openConversation } = useNavigation()
  const read = () => outbox.get(place)
  const { status, problem } = useSyncExternalStore(outbox.subscribe, read, read)
  const created = useRef<string | null>(null)
  const isShown = useRef(true)
  useEffect(() => {
    isShown.current = true
    return () => {
      isShown.current = false
    }
  }, [])

  async function post(message: OutgoingMessage, ifBusy: IfBusy): Promise<string> {
    const known = id ?? created.current ?? outbox.get(place).conversation
    const conversation = known ?? (await client.createConversation()).id
    created.current = conversation
    const said = JSON.stringify(message)
    const last = outbox.get(place).attempt
    const attempt = last?.said === said ? last : { said, id: newMessageId() }
    outbox.change(place, { attempt, conversation })
    try {
      await client.send(conversation, { ...message, id: attempt.id }, { ifBusy })
    } catch (error) {
      const isThere = error instanceof ApiError && error.code === 'message_exists'
      if (!isThere) throw error
    }
    return conversation
  }

  async function deliver(ifBusy: IfBusy): Promise<void> {
    const text = readDraft(place)
    const sent = files.get(place)
    outbox.change(place, { status: 'sending', problem: null })
    try {
      const message = { content: text.trim(), attachments: attachmentsOf(sent) }
      const conversation = await post(message, ifBusy)
      // More may have been written and attached since, and another conversation may be shown.
      const now = readDraft(place)
      keepDraft(place, now.startsWith(text) ? now.slice(text.length).trimStart() : now)
      // Failed files stay, and so do later ones.
      files.remove(place, (one) => one.status === 'done' && sent.includes(one))
      outbox.forget(place)
      forgetConversations()
      if (id !== null || !isShown.current) return
      keepDraft(conversation, readDraft(place))
      keepDraft(place, '')
      files.move(place, conversation)
      await openConversation(conversation)
    } catch (error) {
      const isUnsure = mayHaveArrived(error)
      outbox.change(place, { status: null, problem: { ...errorText(error), isUnsure } })
      if (!isShown.current) tellError(isUnsure ? UNSURE : NOT_SENT, error)
    }
  }

  return {
    status,
    problem,
    async send(ifBusy) {
      if (outbox.get(place).status !== null) return
      if (!files.isUploadingAt(place)) return deliver(ifBusy)
      const held = outbox.change(place, { status: 'held', problem: null })
      await files.uploadedAt(place)
      // It was released, and perhaps held again.
      if (outbox.get(place) !== held) return
      if (files.get(place).every((one) => one.status === 'done')) return deliver(ifBusy)
      outbox.change(place, { status: null })
      if (!isShown.current) tellError(NOT_SENT, new Error('A file was not uploaded.'))
    },
    release: () => outbox.change(place, { status: null }),
    dismissProblem: () => outbox.change(place, { problem: null }),
  }
}

/** Whether a message may have arrived, because the server did not answer, or a proxy answered in its place. */
function mayHaveArrived(error: unknown): boolean {
  if (!(error instanceof ApiError)) return false
  const { status, code } = error
  return status === 0 || (status >= 500 && code === 'unexpected_response')
}

const UNSURE =
  'A message may not have arrived. It is still in the message box of its conversation, and you can safely send it again.'

const NOT_SENT = 'A message was not sent. It is still in the message box of its conversation.'

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
