import { uiMessages } from 'byref/ai-sdk'
import { getAgent } from '../../../lib/agent'
import { Chat } from './chat'

/** A chat with its saved messages. */
export default async function ChatPage({ params }: PageProps<'/chat/[id]'>) {
  const { id } = await params
  const saved = await uiMessages(getAgent(), id, {
    assetUrl: (ref) => `/api/assets/${encodeURIComponent(ref)}`,
  })
  return <Chat id={id} saved={saved} />
}
