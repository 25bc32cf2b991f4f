import { Search } from 'lucide-react'
import { useEffect, useState } from 'react'
import { useConversationId } from '../../app/conversation-context.tsx'
import { PlaceLink } from '../../app/navigation.tsx'
import { useMay } from '../../app/role.ts'
import { useServer } from '../../app/server.ts'
import { ActionError } from '../../ui/action-error.tsx'
import { Button } from '../../ui/button.tsx'
import { formatCount } from '../../ui/format.ts'
import { Section } from '../section.tsx'
import { type Hit, type SearchProgress, searchConversation } from './search-conversation.ts'

/** Searches all messages, their metadata and their debug data. Each hit links to its place. */
export function Hits() {
  const conversation = useConversationId()
  const debug = useMay('owner')
  const [text, setText] = useState('')
  const [search, setSearch] = useState<{ text: string } | null>(null)
  const { progress, error } = useSearch(conversation, search, debug)
  return (
    <Section
      title={debug ? 'Search messages, metadata and debug data' : 'Search messages and metadata'}
    >
      <form
        className="flex flex-wrap gap-1"
        onSubmit={(event) => {
          event.preventDefault()
          setSearch(text.trim() === '' ? null : { text: text.trim() })
        }}
      >
        <input
          type="search"
          dir="auto"
          aria-label="Search messages and their data"
          value={text}
          onChange={(event) => setText(event.target.value)}
          className="h-7 min-w-0 flex-1 basis-32 rounded-md border border-line-strong bg-surface px-2 text-sm max-md:text-[1rem] pointer-coarse:h-9"
        />
        <Button look="outline" type="submit">
          <Search aria-hidden /> Search
        </Button>
      </form>
      <ActionError what="The search was interrupted." error={error} />
      {progress && (
        <p role="status" className="text-xs text-ink-3 tabular-nums">
          {formatCount(progress.hits.length)} {progress.hits.length === 1 ? 'hit' : 'hits'} in{' '}
          {formatCount(progress.lines)} lines
          {progress.state === 'cut' && ', and there are more'}
          {progress.state === 'reading' && error === null && ', still searching…'}
        </p>
      )}
      <ul aria-label="Hits" className="space-y-1 text-xs">
        {progress?.hits.map((hit) => (
          <li key={`${hit.messageId} ${hit.part} ${hit.at}`}>
            <HitLine hit={hit} />
          </li>
        ))}
      </ul>
    </Section>
  )
}

function HitLine({ hit: { messageId, part, at, value } }: { hit: Hit }) {
  const view =
    part === 'debug' ? { debug: at } : { tab: 'message' as const, message: messageId, path: at }
  return (
    <PlaceLink
      to={{ type: 'view', view, hash: `m-${messageId}` }}
      className="block rounded-md border border-line px-2 py-1 hover:bg-hover"
    >
      <span dir="ltr" className="block truncate font-mono text-ink-2">
        {part === 'debug' && 'debug'}
        {at || '/'}
      </span>
      <span dir="auto" className="block truncate text-ink">
        {value}
      </span>
    </PlaceLink>
  )
}

/** Runs a search until the next one starts. */
function useSearch(conversation: string | null, search: { text: string } | null, debug: boolean) {
  const { client } = useServer()
  const [progress, setProgress] = useState<SearchProgress | null>(null)
  const [error, setError] = useState<unknown>(null)
  useEffect(() => {
    setProgress(null)
    setError(null)
    if (conversation === null || search === null) return
    const controller = new AbortController()
    const { signal } = controller
    searchConversation(client, conversation, search.text, {
      debug,
      signal,
      onProgress: setProgress,
    }).then(
      (all) => signal.aborted || setProgress(all),
      (error: unknown) => signal.aborted || setError(error),
    )
    return () => controller.abort()
  }, [client, conversation, search, debug])
  return { progress, error }
}
