import { useQuery } from '@tanstack/react-query'
import { useEffect } from 'react'
import { Composer } from '../composer/composer.tsx'
import { Inspector } from '../inspector/inspector.tsx'
import { runPhase } from '../thread/run-phase.ts'
import { Thread } from '../thread/thread.tsx'
import { conversationsQuery, queries } from './client.ts'
import { ConversationProvider, useConversation } from './conversation-context.tsx'
import { Header } from './header.tsx'
import { SidePane } from './side-pane.tsx'

/** A conversation and its inspector; without an id, one that begins with the first message. */
export function ConversationPage({ id }: { id: string | null }) {
  const { data } = useQuery(conversationsQuery)
  const known = data?.find((conversation) => conversation.id === id)?.title
  const title = id === null ? 'New conversation' : known || 'Conversation'
  return (
    <ConversationProvider id={id}>
      <title>{`${title} · byref`}</title>
      <FreshList />
      <main className="flex h-full min-w-0 flex-1 flex-col bg-surface">
        <Header title={title} inspector />
        <Thread key={id} />
        <Composer key={`composer ${id}`} />
      </main>
      <SidePane panel="inspector" side="right" label="Inspector" width={460}>
        <Inspector />
      </SidePane>
    </ConversationProvider>
  )
}

/** Has the list of conversations looked up anew when a run begins, waits for a person or ends here. */
function FreshList() {
  const status = useConversation((state) => state.runs.at(-1)?.status)
  const phase = useConversation(runPhase)
  useEffect(() => {
    if (status && phase) void queries.invalidateQueries({ queryKey: conversationsQuery.queryKey })
  }, [status, phase])
  return null
}
