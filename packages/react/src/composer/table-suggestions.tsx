import { type ConversationState, demoQuestions, readMetadata, tableQuestions } from 'byref/client'
import { useConversation } from '../app/conversation-context.tsx'
import { useServer } from '../app/server.ts'
import { useQuery } from '../app/server-queries.ts'
import { readTable } from '../preview/table/read-table.ts'
import { cn } from '../ui/cn.ts'

/** Properties of {@link TableSuggestions}. */
export interface TableSuggestionsProps {
  /** The id of a table, or its reference. */
  assetId: string
  onChoose: (question: string) => void
  /** Whether they take one line, which scrolls. A phone has no room for it. */
  inOneLine?: boolean
}

/**
 * Renders questions to the demo model about the table that was attached last, after an answer. A real model understands
 * more, and needs no help.
 */
export function NextSuggestions({ onChoose }: Pick<TableSuggestionsProps, 'onChoose'>) {
  const { infoQuery } = useServer()
  const { data: info } = useQuery(infoQuery)
  const isDemo = info?.agents[0]?.model?.demo === true
  const assetRef = useConversation((state) => (isDemo ? lastAttached(state) : null))
  if (assetRef === null) return null
  return <TableSuggestions assetId={assetRef} onChoose={onChoose} inOneLine />
}

function lastAttached({ messages }: Pick<ConversationState, 'messages'>): string | null {
  const message = messages.findLast(({ metadata }) => metadata?.attachments !== undefined)
  return (message && readMetadata(message).attachments.at(-1)?.assetRef) ?? null
}

/** Renders questions that the columns of an attached table can answer. A click puts one into the message. */
export function TableSuggestions({ assetId, onChoose, inOneLine }: TableSuggestionsProps) {
  const { assetQuery, infoQuery } = useServer()
  const { data: asset } = useQuery(assetQuery(assetId))
  const { data: info } = useQuery(infoQuery)
  const table = asset?.meta ? readTable(asset.meta) : null
  if (!table) return null
  const isDemo = info?.agents[0]?.model?.demo === true
  const questions = [
    ...tableQuestions(table.columns),
    ...(isDemo ? demoQuestions(table.columns) : []),
  ]
  return (
    <ul
      aria-label="Suggested questions"
      className={cn(
        'mb-2 flex gap-1.5 p-0.5',
        inOneLine
          ? 'overflow-x-auto max-sm:hidden'
          : 'max-sm:overflow-x-auto sm:max-h-[max(2rem,14vh)] sm:flex-wrap sm:overflow-y-auto',
      )}
    >
      {questions.map((question) => (
        <li key={question} className={cn('max-w-full max-sm:shrink-0', inOneLine && 'shrink-0')}>
          <button
            type="button"
            dir="auto"
            onClick={() => onChoose(question)}
            className="max-w-full truncate rounded-full border border-line bg-raised px-2.5 py-1 text-xs hover:border-line-strong hover:bg-hover"
          >
            {question}
          </button>
        </li>
      ))}
    </ul>
  )
}
