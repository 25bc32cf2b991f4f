import { useNavigate, useParams } from '@tanstack/react-router'
import type { ConversationSummary } from 'byref/client'
import { lazy, Suspense } from 'react'
import { Confirm } from '../ui/confirm.tsx'
import { formatCount } from '../ui/format.ts'
import { RenameDialog } from './rename-dialog.tsx'
import { useServer } from './server.ts'
import { useFamily } from './use-family.ts'

const SavePageDialog = lazy(async () => ({
  default: (await import('./save-page-dialog.tsx')).SavePageDialog,
}))

/** A question to answer before something is done with a conversation. */
export type ConversationQuestion = 'rename' | 'save-page' | 'delete'

/** Properties of {@link ConversationDialog}. */
export interface ConversationDialogProps {
  question: ConversationQuestion
  conversation: Pick<ConversationSummary, 'id' | 'title' | 'messages'>
  onClose: () => void
}

/** Asks before a conversation is renamed, saved or deleted, and then does it. */
export function ConversationDialog({ question, conversation, onClose }: ConversationDialogProps) {
  if (question === 'rename') return <RenameDialog conversation={conversation} onClose={onClose} />
  if (question === 'delete') return <Delete conversation={conversation} onClose={onClose} />
  return (
    <Suspense>
      <SavePageDialog conversation={conversation.id} onClose={onClose} />
    </Suspense>
  )
}

function Delete({
  conversation: { id, title, messages },
  onClose,
}: Omit<ConversationDialogProps, 'question'>) {
  const { client, forgetConversations } = useServer()
  const navigate = useNavigate()
  const family = useFamily(id) ?? []
  const versions = [...new Set([id, ...family.map((one) => one.id)])]
  const isCurrent = useParams({
    strict: false,
    select: ({ conversationId = '' }) => versions.includes(conversationId),
  })

  async function remove(): Promise<void> {
    for (const version of versions) await client.deleteConversation(version)
    if (isCurrent) await navigate({ to: '/' })
    forgetConversations()
  }

  return (
    <Confirm title="Delete this conversation?" action="Delete" onConfirm={remove} onClose={onClose}>
      “<bdi>{title || 'Untitled'}</bdi>” with its{' '}
      {messages === 1 ? 'one message' : `${formatCount(messages)} messages`} and their debug data is
      deleted for everybody
      {versions.length > 1 && `, in all ${formatCount(versions.length)} versions`}. This cannot be
      undone: export it first to keep a copy.
    </Confirm>
  )
}
