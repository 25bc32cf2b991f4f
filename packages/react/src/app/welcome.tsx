import { BookOpen } from 'lucide-react'
import { attach, pickFiles, suggest } from '../composer/suggestions.ts'
import { Samples } from '../samples/samples.tsx'
import { Empty } from '../ui/empty.tsx'
import { useMay } from './role.ts'
import { type Server, useServer } from './server.ts'

const SUGGESTIONS = [
  {
    text: 'Try it with invoices.csv',
    hint: 'A small table that comes with byref',
    act: (server: Server) => void attachSample(server),
    needsFiles: true,
  },
  { text: 'Attach a table…', hint: 'CSV, TSV or JSON', act: pickFiles },
  {
    text: 'What can you do?',
    hint: 'The tools of this agent',
    act: () => suggest('What can you do?'),
  },
]

/** Attaches the bundled table to the next message. The composer then suggests questions about it. */
async function attachSample({ loadFile, tellError }: Server): Promise<void> {
  try {
    const response = await loadFile('samples/invoices.csv')
    attach(new File([await response.blob()], 'invoices.csv', { type: 'text/csv' }))
  } catch (error) {
    tellError('The sample file was not loaded.', error)
  }
}

/** Renders an empty conversation: what byref is, and ways to start. */
export function Welcome() {
  const mayWrite = useMay('member')
  const server = useServer()
  if (!mayWrite) {
    return (
      <Empty icon={BookOpen} title="Choose a conversation">
        Read-only. Choose a conversation from the list.
      </Empty>
    )
  }
  return (
    <div className="m-auto w-full max-w-lg py-8">
      <p
        aria-hidden
        className="mb-4 grid size-11 place-items-center rounded-xl bg-zinc-900 text-xl font-bold text-amber-400 ring-1 ring-line-strong"
      >
        †
      </p>
      <h2 className="text-xl font-semibold tracking-tight">
        Ask about big files without pasting them
      </h2>
      <p className="mt-1.5 text-base text-ink-2">
        Drop a file, ask about it, and watch it travel by reference: the model sees{' '}
        <code className="rounded border border-asset-line bg-asset-soft px-1 font-mono text-[0.9em] text-asset">
          asset://…
        </code>{' '}
        and{' '}
        <code className="rounded border border-variable-line bg-variable-soft px-1 font-mono text-[0.9em] text-variable">
          †state…
        </code>
        , never the bytes.
      </p>
      <ul className="mt-5 grid gap-1.5">
        {SUGGESTIONS.filter(({ needsFiles }) => !needsFiles || server.hasFiles).map(
          ({ text, hint, act }) => (
            <li key={text}>
              <button
                type="button"
                onClick={() => act(server)}
                className="flex w-full flex-wrap items-baseline justify-between gap-x-4 rounded-lg border border-line px-3 py-2 text-start text-sm hover:border-line-strong hover:bg-hover"
              >
                <span className="font-medium">{text}</span>
                <span className="text-xs text-ink-3">{hint}</span>
              </button>
            </li>
          ),
        )}
      </ul>
      <Samples />
    </div>
  )
}
