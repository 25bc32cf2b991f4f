import { useNavigate, useParams } from '@tanstack/react-router'
import type { ConversationSummary } from 'byref/client'
import { Confirm } from '../ui/confirm.tsx'
import { formatCount } from '../ui/format.ts'
import { lazyPart } from '../ui/lazy-part.tsx'
import { LoadError } from '../ui/load-error.tsx'
import { RenameDialog } from './rename-dialog.tsx'
import { useServer } from './server.ts'
import { useQuery } from './server-queries.ts'

const SavePageDialog = lazyPart(async () => (await import('./save-page-dialog.tsx')).SavePageDialog)

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
  return <SavePageDialog conversation={conversation.id} onClose={onClose} />
}

function Delete({
  conversation: { id, title, messages },
  onClose,
}: Omit<ConversationDialogProps, 'question'>) {
  const { client, loadFamily, forgetConversations } = useServer()
  const navigate = useNavigate()
  const shown = useParams({ strict: false, select: ({ conversationId = '' }) => conversationId })
  const { data, error, refetch } = useQuery({
    queryKey: ['family', id],
    queryFn: async () => idsWith(id, await loadFamily(id)),
    staleTime: 0,
    gcTime: 0,
  })
  const count = data?.length ?? 1

  /** Another version may have been made since the question was asked. */
  async function remove(): Promise<void> {
    const versions = idsWith(id, await loadFamily(id))
    for (const version of versions) await client.deleteConversation(version)
    if (versions.includes(shown)) await navigate({ to: '/' })
    forgetConversations()
  }

  return (
    <Confirm
      title="Delete this conversation?"
      action="Delete"
      isReady={data !== undefined}
      onConfirm={remove}
      onClose={onClose}
    >
      “<bdi>{title || 'Untitled'}</bdi>” with its{' '}
      {messages === 1 ? 'one message' : `${formatCount(messages)} messages`} and their debug data is
      deleted for everybody{count > 1 && `, in all ${formatCount(count)} versions`}. This cannot be
      undone: export it first to keep a copy.
      {!data && !error && (
        <p role="status" className="mt-2 text-xs text-ink-3">
          Looking for its other versions, which are deleted too…
        </p>
      )}
      {error && (
        <div className="mt-2">
          <LoadError what="The list of its versions" error={error} onRetry={() => void refetch()} />
        </div>
      )}
    </Confirm>
  )
}

/**
 * Returns the ids of a conversation and its other versions. Its own is the last: when it is deleted, its line in the list
 * vanishes, and with it this question.
 */
function idsWith(id: string, family: readonly ConversationSummary[]): string[] {
  return [...family.map((one) => one.id).filter((other) => other !== id), id]
}
