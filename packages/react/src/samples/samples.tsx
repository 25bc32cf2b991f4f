import { useState } from 'react'
import { useOpenNew } from '../app/conversation-actions.ts'
import { useMay } from '../app/role.ts'
import { useServer } from '../app/server.ts'
import { useQuery } from '../app/server-queries.ts'
import { useAction } from '../ui/use-action.ts'
import { listSamples, loadSample } from './load-sample.ts'

/** Renders sample conversations for people without conversations. A click loads and opens one. */
export function Samples() {
  const server = useServer()
  const mayImport = useMay('owner')
  const openNew = useOpenNew()
  const { data } = useQuery({
    queryKey: ['samples'],
    queryFn: () => listSamples(server),
    enabled: mayImport && server.hasFiles,
    staleTime: Number.POSITIVE_INFINITY,
  })
  const [chosen, setChosen] = useState('')
  const { run, isBusy } = useAction(async (name: string) => {
    setChosen(name)
    try {
      const { id, first } = await loadSample(server, name)
      await openNew(id, first === null ? undefined : `m-${first}`)
    } catch (error) {
      server.tellError('The sample was not loaded.', error)
    }
  })
  if (!mayImport || !data) return null
  return (
    <section className="mt-6">
      <h3 className="text-sm font-semibold">Sample conversations</h3>
      <p className="mt-0.5 text-xs text-ink-3">
        These conversations are recordings: their calls do not run again.
      </p>
      <ul className="mt-2 grid gap-1.5">
        {data.map(({ name, title, description }) => (
          <li key={name}>
            <button
              type="button"
              disabled={isBusy}
              onClick={() => run(name)}
              className="w-full rounded-lg border border-line px-3 py-2 text-start text-sm hover:border-line-strong hover:bg-hover disabled:opacity-60"
            >
              <span className="block font-medium">
                {title}
                {isBusy && chosen === name && ' · loading…'}
              </span>
              <span className="block text-xs text-ink-3">{description}</span>
            </button>
          </li>
        ))}
      </ul>
    </section>
  )
}
