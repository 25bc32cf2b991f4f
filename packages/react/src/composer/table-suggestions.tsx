import { demoQuestions, tableQuestions } from 'byref/client'
import { useServer } from '../app/server.ts'
import { useQuery } from '../app/server-queries.ts'
import { readTable } from '../preview/table/read-table.ts'

/** Renders questions that the columns of an attached table can answer. A click puts one into the message. */
export function TableSuggestions({
  assetId,
  onChoose,
}: {
  assetId: string
  onChoose: (question: string) => void
}) {
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
      className="mb-2 flex max-h-[25vh] flex-wrap gap-1.5 overflow-y-auto p-0.5"
    >
      {questions.map((question) => (
        <li key={question} className="max-w-full">
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
