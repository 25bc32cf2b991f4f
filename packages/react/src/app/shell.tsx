import { Outlet, useParams } from '@tanstack/react-router'
import { ApiError } from 'byref/client'
import { useLayoutEffect, useState } from 'react'
import { lazyPart } from '../ui/lazy-part.tsx'
import { ConversationDialog, type ConversationQuestion } from './conversation-dialog.tsx'
import { Conversations } from './conversations.tsx'
import { PaletteContext } from './palette-context.ts'
import { useRootProps } from './root.tsx'
import { RouterNavigation } from './router-navigation.tsx'
import { useServer } from './server.ts'
import { useQuery } from './server-queries.ts'
import { SidePane } from './side-pane.tsx'
import { SignIn } from './sign-in.tsx'

const CommandPalette = lazyPart(async () => (await import('./command-palette.tsx')).CommandPalette)

/** Renders the frame around every page. If the server needs a token, it shows the sign-in form first. */
export function Shell() {
  const { infoQuery } = useServer()
  const { error } = useQuery(infoQuery)
  const isSignedOut = error instanceof ApiError && error.status === 401
  return (
    <RouterNavigation>
      <div {...useRootProps('h-full')}>{isSignedOut ? <SignIn /> : <Frame />}</div>
    </RouterNavigation>
  )
}

/** Renders the conversations, the page, and the command palette. */
function Frame() {
  const { isOffline } = useServer()
  const [palette, setPalette] = useState(false)
  const [question, setQuestion] = useState<ConversationQuestion | null>(null)
  // Not an effect after the paint: the key works as soon as the page is visible.
  useLayoutEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== 'k' || !(event.ctrlKey || event.metaKey)) return
      event.preventDefault()
      setPalette((open) => !open)
    }
    addEventListener('keydown', onKey)
    return () => removeEventListener('keydown', onKey)
  }, [])
  return (
    <PaletteContext value={() => setPalette(true)}>
      <button
        type="button"
        onClick={() => document.querySelector<HTMLElement>('textarea')?.focus()}
        className="sr-only focus:not-sr-only focus:absolute focus:top-2 focus:inset-s-2 focus:z-50 focus:rounded-md focus:bg-solid focus:px-3 focus:py-1.5 focus:text-solid-ink"
      >
        Skip to the message box
      </button>
      <div className="flex h-full overflow-hidden">
        {!isOffline && (
          <SidePane panel="conversations" side="start" label="Conversations" width={240}>
            <Conversations />
          </SidePane>
        )}
        <div className="flex min-w-0 flex-1">
          <Outlet />
        </div>
      </div>
      {question && <Question question={question} onClose={() => setQuestion(null)} />}
      {palette && <CommandPalette onClose={() => setPalette(false)} onAsk={setQuestion} />}
    </PaletteContext>
  )
}

/** Shows the question of the command palette about the open conversation. */
function Question({ question, onClose }: { question: ConversationQuestion; onClose: () => void }) {
  const { conversationQuery } = useServer()
  const { conversationId = '' } = useParams({ strict: false })
  const { data: conversation } = useQuery(conversationQuery(conversationId))
  if (!conversation) return null
  return <ConversationDialog question={question} conversation={conversation} onClose={onClose} />
}
