import { useEffect } from 'react'
import { Composer } from '../composer/composer.tsx'
import { Inspector } from '../inspector/inspector.tsx'
import { runPhase } from '../thread/run-phase.ts'
import { Thread } from '../thread/thread.tsx'
import { LabelsProvider } from '../trust/labels-context.tsx'
import {
  ConversationProvider,
  LoadedSoFar,
  useConnection,
  useConversation,
} from './conversation-context.tsx'
import { Header } from './header.tsx'
import { MissingConversation } from './not-found.tsx'
import { useServer } from './server.ts'
import { useQuery } from './server-queries.ts'
import { SidePane } from './side-pane.tsx'
import { Welcome } from './welcome.tsx'

/** Renders a conversation and its inspector. Without an id, the first message creates the conversation. */
export function ConversationPage({ id }: { id: string | null }) {
  const { conversationQuery } = useServer()
  const { data } = useQuery({ ...conversationQuery(id ?? ''), enabled: id !== null })
  // Nothing is shown until the title is known: a heading that changes looks like another conversation.
  const title = id === null ? 'New conversation' : data && (data.title || 'Untitled')
  return (
    <ConversationProvider id={id}>
      <title>{title ? `${title} · byref` : 'byref'}</title>
      <FreshList />
      <LabelsProvider>
        <Panes id={id} title={title ?? ''} />
      </LabelsProvider>
    </ConversationProvider>
  )
}

function Panes({ id, title }: { id: string | null; title: string }) {
  const { error } = useConnection()
  const known = useConversation((state) => state.position > 0)
  if (error?.code === 'conversation_not_found') return <MissingConversation wasDeleted={known} />
  return (
    <>
      <main className="flex h-full min-w-0 flex-1 flex-col bg-surface">
        <Header title={title} inspector />
        <LoadedSoFar>
          <Thread key={id} empty={<Welcome />} />
        </LoadedSoFar>
        <Composer key={`composer ${id}`} autoFocus />
      </main>
      <SidePane panel="inspector" side="end" label="Inspector" width={460}>
        <Inspector key={id} />
      </SidePane>
    </>
  )
}

/** Reloads the list of conversations when a run of this one starts, waits for a person or ends. */
function FreshList() {
  const { forgetConversations } = useServer()
  const status = useConversation((state) => state.runs.at(-1)?.status)
  const phase = useConversation(runPhase)
  useEffect(() => {
    if (status && phase) forgetConversations()
  }, [status, phase, forgetConversations])
  return null
}
