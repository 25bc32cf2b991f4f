import { useConversation } from '../app/conversation-context.tsx'
import { useServer } from '../app/server.ts'
import { useQuery } from '../app/server-queries.ts'
import { fieldQuery } from '../preview/field-query.ts'
import { errorText } from '../ui/error-text.ts'
import { formatBytes } from '../ui/format.ts'
import { Spinner } from '../ui/spinner.tsx'
import { AssetChip } from './asset-chip.tsx'
import { readVariable, storedIn } from './board.ts'

/** Maximum number of bytes of a stored value that are loaded. */
const LOADED_BYTES = 100_000

/** Maximum number of characters that are shown. */
const SHOWN_CHARS = 2_000

/** Renders the current value of a variable in a hover card, wherever it is stored. */
export function VariableCard({ reference }: { reference: string }) {
  const messages = useConversation((state) => state.messages)
  const stored = storedIn(messages, reference)
  return (
    <div className="space-y-1.5">
      <p className="font-mono text-xs font-medium text-variable">{reference}</p>
      {stored ? (
        <StoredValue {...stored} />
      ) : (
        <BoardValue found={readVariable(messages, reference)} />
      )}
      <p className="text-2xs text-ink-3">The value now; click to see how it came about.</p>
    </div>
  )
}

function BoardValue({ found }: { found: ReturnType<typeof readVariable> }) {
  if ('problem' in found) return <p className="text-xs text-bad">{found.problem}</p>
  return <Value text={JSON.stringify(found.value, null, 2) ?? 'undefined'} />
}

/** Renders a value that is stored in an asset, with the asset. */
function StoredValue({ asset, value, size }: NonNullable<ReturnType<typeof storedIn>>) {
  const { client } = useServer()
  const { data, error } = useQuery(fieldQuery(client, value, LOADED_BYTES))
  const text = typeof data?.value === 'string' ? data.value : JSON.stringify(data?.value, null, 2)
  return (
    <>
      {error && <p className="text-xs text-bad">{errorText(error).message}</p>}
      {!data && !error && <Spinner label="Loading the value" />}
      {text !== undefined && <Value text={text} />}
      <p className="flex flex-wrap items-center gap-1 text-2xs text-ink-3">
        {size !== null && `${formatBytes(size)}, `}stored in
        <AssetChip reference={asset} />
      </p>
    </>
  )
}

function Value({ text }: { text: string }) {
  return (
    <pre className="max-h-56 overflow-auto rounded bg-sunken p-2 font-mono text-2xs whitespace-pre-wrap">
      {text.length > SHOWN_CHARS ? `${text.slice(0, SHOWN_CHARS)}…` : text}
    </pre>
  )
}
