import { useQuery } from '@tanstack/react-query'
import { Composer } from '../composer/composer.tsx'
import { Inspector } from '../inspector/inspector.tsx'
import { Thread } from '../thread/thread.tsx'
import { conversationsQuery } from './client.ts'
import { ConversationProvider } from './conversation-context.tsx'
import { Header } from './header.tsx'
import { SidePane } from './side-pane.tsx'

/** A conversation and its inspector; without an id, one that begins with the first message. */
export function ConversationPage({ id }: { id: string | null }) {
  return (
    <ConversationProvider id={id}>
      <main className="flex h-full min-w-0 flex-1 flex-col bg-surface">
        <Header title={<Title id={id} />} inspector />
        <Thread key={id} />
        <Composer key={`composer ${id}`} />
      </main>
      <SidePane panel="inspector" side="right" label="Inspector" className="w-[26rem] xl:w-[30rem]">
        <Inspector />
      </SidePane>
    </ConversationProvider>
  )
}

function Title({ id }: { id: string | null }) {
  const { data } = useQuery(conversationsQuery)
  if (id === null) return 'New conversation'
  return data?.find((conversation) => conversation.id === id)?.title || 'Conversation'
}
