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
      className="mb-2 flex gap-1.5 p-0.5 max-sm:overflow-x-auto sm:max-h-[max(2rem,14vh)] sm:flex-wrap sm:overflow-y-auto"
    >
      {questions.map((question) => (
        <li key={question} className="max-w-full max-sm:shrink-0">
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
