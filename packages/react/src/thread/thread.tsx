import type { Message } from 'byref/client'
import { ArrowDown } from 'lucide-react'
import {
  type ReactNode,
  type RefObject,
  useCallback,
  useEffect,
  useLayoutEffect,
  useMemo,
  useRef,
} from 'react'
import {
  useConnection,
  useConversation,
  useConversationId,
  useLoaded,
} from '../app/conversation-context.tsx'
import { useHash } from '../app/navigation.tsx'
import { isSentHere } from '../composer/use-send.ts'
import { Button } from '../ui/button.tsx'
import { Comparison } from '../versions/comparison.tsx'
import { Connection } from './connection.tsx'
import { Debug } from './debug.tsx'
import { InProgress } from './in-progress.tsx'
import { InterruptedRun, useIsInterrupted } from './interrupted-run.tsx'
import { Queued } from './queued.tsx'
import { readHash } from './read-hash.ts'
import { RunStatus } from './run-status.tsx'
import { SubAgentOrigin } from './sub-agent.tsx'
import { ThreadItem } from './thread-item.tsx'
import { ThreadSkeleton } from './thread-skeleton.tsx'
import { timeline } from './timeline.ts'
import { UnreadFiles } from './unread-files.tsx'
import { useKeptPlace } from './use-kept-place.ts'
import { useStickToBottom } from './use-stick-to-bottom.ts'
import { useWindow } from './use-window.ts'
import { VersionsProvider } from './versions.tsx'
import { WindowEdge } from './window-edge.tsx'

const NONE: readonly Message[] = []

/** Renders the second pane: all messages, calls and results, and the streaming answer. */
export function Thread({ empty = null }: { empty?: ReactNode }) {
  const id = useConversationId()
  const loaded = useLoaded()
  const { status } = useConnection()
  const isInterrupted = useIsInterrupted()
  const messages = useConversation((state) => state.messages)
  const runs = useConversation((state) => state.runs)
  const calls = useConversation((state) => state.calls)
  const hash = useHash()
  const isWanted = loaded || hash !== ''
  const items = useMemo(
    () => (isWanted ? timeline({ messages, runs, calls }) : []),
    [isWanted, messages, runs, calls],
  )
  const { start, end, extend, toEnd, toStart } = useWindow(items, hash, loaded)
  const isWhole = loaded && end === items.length
  const isThere = start < end
  const { scroller, content, atBottom, toBottom, release } = useStickToBottom(
    // What is shown in place of a conversation is read from its beginning.
    id !== null && (isWhole || !isThere),
  )
  const keepPlace = useKeptPlace(scroller, content, start)
  const latest = useCallback(() => {
    toEnd()
    toBottom()
  }, [toEnd, toBottom])
  const first = useCallback(() => {
    release()
    toStart()
  }, [release, toStart])
  useEndKeys(scroller, { first: start > 0 ? first : null, latest: isWhole ? null : latest })
  useLinkedItem(hash, isThere, release)
  useSeenWhenSent(loaded ? messages : NONE, latest)

  return (
    <section aria-label="Thread" className="relative flex min-h-0 flex-1 flex-col overflow-clip">
      <div
        ref={scroller}
        data-scroller
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
        tabIndex={0}
        className="min-h-0 flex-1 overflow-y-auto overscroll-contain -outline-offset-2"
      >
        <div
          ref={content}
          className="mx-auto flex min-h-full w-full max-w-3xl flex-col px-3 pt-4 pb-6 sm:px-6"
        >
          {id === null && empty}
          {!loaded && !isThere && status !== 'closed' && <ThreadSkeleton />}
          {start > 0 && (
            <WindowEdge
              label="Show earlier messages"
              onMore={() => {
                keepPlace()
                extend('start')
              }}
            />
          )}
          {start === 0 && isThere && <SubAgentOrigin />}
          <VersionsProvider>
            {items.slice(start, end).map((item) => (
              <ThreadItem key={item.key} item={item} />
            ))}
          </VersionsProvider>
          {isWhole ? (
            <>
              <UnreadFiles />
              <InProgress isInterrupted={isInterrupted} />
              {isInterrupted && <InterruptedRun />}
              <Queued />
            </>
          ) : (
            isThere && <WindowEdge label="Show later messages" onMore={() => extend('end')} />
          )}
        </div>
      </div>
      <Connection />
      {id !== null && loaded && !(atBottom && isWhole) && (
        <Button
          look="outline"
          data-floats
          onClick={latest}
          className="absolute inset-x-0 bottom-3 mx-auto w-fit rounded-full bg-raised shadow-float"
        >
          <ArrowDown aria-hidden /> Latest
        </Button>
      )}
      {loaded && <RunStatus />}
      <Debug />
      <Comparison />
    </section>
  )
}

/** Scrolls to the end when this page sends a message, but not for messages of other pages. */
function useSeenWhenSent(messages: readonly Message[], toBottom: () => void): void {
  const before = useRef(0)
  useEffect(() => {
    const grew = before.current > 0 && messages.length > before.current
    const spoke = messages.slice(before.current).some(({ id }) => isSentHere(id))
    before.current = messages.length
    if (grew && spoke) toBottom()
  }, [messages, toBottom])
}

/**
 * Lets the keys Home and End go to the beginning and the end of the whole conversation. Null leaves a key to the browser,
 * because that end is on the page.
 */
function useEndKeys(
  scroller: RefObject<HTMLElement | null>,
  { first, latest }: { first: (() => void) | null; latest: (() => void) | null },
): void {
  const isPressed = useRef(false)
  useEffect(() => {
    const element = scroller.current
    const onKey = (event: KeyboardEvent) => {
      const go = event.key === 'Home' ? first : event.key === 'End' ? latest : null
      if (!go || event.target !== element || event.shiftKey || event.altKey) return
      event.preventDefault()
      isPressed.current = go === first
      go()
    }
    element?.addEventListener('keydown', onKey)
    return () => element?.removeEventListener('keydown', onKey)
  }, [scroller, first, latest])
  useLayoutEffect(() => {
    if (isPressed.current && first === null) scroller.current?.scrollTo({ top: 0 })
    isPressed.current = false
  }, [scroller, first])
}

/** Scrolls to what the address names, and highlights it for a moment. */
function useLinkedItem(hash: string, loaded: boolean, release: () => void): void {
  useEffect(() => {
    if (!hash || !loaded) return
    const frame = requestAnimationFrame(() => {
      const element = document.getElementById(readHash(hash))
      if (!element) return
      element.closest('details')?.setAttribute('open', '')
      const { top, bottom } = element.getBoundingClientRect()
      const visible = top >= 48 && bottom <= innerHeight
      release()
      if (!visible) element.scrollIntoView({ block: 'center' })
      element.classList.remove('animate-flash')
      void element.offsetWidth
      element.classList.add('animate-flash', 'rounded-md')
    })
    return () => cancelAnimationFrame(frame)
  }, [hash, loaded, release])
}
