import type { ToolInfo } from 'byref/client'
import { useServer } from '../../app/server.ts'
import { useQuery } from '../../app/server-queries.ts'
import { JsonTree } from '../../json/json-tree.tsx'
import { CopyButton } from '../../ui/copy-button.tsx'
import { formatCount } from '../../ui/format.ts'
import { LoadError } from '../../ui/load-error.tsx'
import { Spinner } from '../../ui/spinner.tsx'
import { JumpText } from '../jump-text.tsx'
import { parametersOf, type SchemaParameter } from './schema-parameters.ts'

/** Number of calls that are linked. The rest is counted. */
const MOST = 20

/** Renders a tool with its whole description, its parameters, and links to its calls. */
export function ToolDetails({
  name,
  agent,
  calls,
}: {
  name: string
  agent: string
  /** The ids of its calls in the conversation. */
  calls: readonly string[]
}) {
  const { client } = useServer()
  const { data, error, isPending, refetch } = useQuery({
    queryKey: ['tool', agent, name],
    queryFn: () => client.tool(name, { agent }),
    staleTime: 60_000,
  })
  if (isPending) return <Spinner label={`Loading ${name}`} className="m-2" />
  if (error) return <LoadError what="The tool" error={error} onRetry={() => void refetch()} />
  if (!data) return <p className="text-ink-3">The agent no longer has this tool.</p>
  return (
    <div className="space-y-2.5">
      <p dir="auto" className="whitespace-pre-wrap [overflow-wrap:anywhere]">
        {data.description || 'It has no description.'}
      </p>
      <Parameters tool={data} />
      {calls.length > 0 && (
        <p className="flex flex-wrap gap-x-2.5 gap-y-1">
          <span className="text-ink-3">Calls:</span>
          {calls.slice(0, MOST).map((id, index) => (
            <JumpText key={id} to={`call-${id}`}>
              call {formatCount(index + 1)}
            </JumpText>
          ))}
          {calls.length > MOST && (
            <span className="text-ink-3">and {formatCount(calls.length - MOST)} more</span>
          )}
        </p>
      )}
    </div>
  )
}

function Parameters({ tool: { name, parameters } }: { tool: ToolInfo }) {
  const rows = parametersOf(parameters)
  return (
    <div className="space-y-1.5">
      <div className="flex items-center justify-between">
        <p className="font-medium text-ink-3">Parameters</p>
        <CopyButton
          label={`Copy the schema of ${name}`}
          text={() => JSON.stringify(parameters, null, 2)}
          className="size-6 [&_svg]:size-3.5"
        />
      </div>
      {rows.length === 0 ? (
        <p className="text-ink-3">It has no parameters.</p>
      ) : (
        <dl aria-label={`Parameters of ${name}`} className="space-y-1.5">
          {rows.map((row) => (
            <Parameter key={row.name} {...row} />
          ))}
        </dl>
      )}
      <details>
        <summary className="w-fit rounded text-ring hover:underline">Schema as JSON</summary>
        <JsonTree value={parameters} label={`Schema of ${name}`} className="py-1.5" />
      </details>
    </div>
  )
}

function Parameter({ name, type, required, description, values }: SchemaParameter) {
  return (
    <div className="border-s-2 border-line ps-2">
      <dt className="flex flex-wrap items-baseline gap-x-2 font-mono" dir="ltr">
        <span className="font-medium [overflow-wrap:anywhere]">{name}</span>
        <span className="text-ink-3 [overflow-wrap:anywhere]">{type}</span>
        {required && <span className="font-sans text-2xs text-warn">required</span>}
      </dt>
      {description !== '' && (
        <dd dir="auto" className="text-ink-2 [overflow-wrap:anywhere]">
          {description}
        </dd>
      )}
      {values.length > 0 && (
        <dd dir="ltr" className="font-mono text-ink-3 [overflow-wrap:anywhere]">
          {values.join(', ')}
        </dd>
      )}
    </div>
  )
}
