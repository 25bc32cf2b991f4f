import { useServer } from '../app/server.ts'
import { useQuery } from '../app/server-queries.ts'
import { JsonTree } from '../json/json-tree.tsx'
import { formatBytes } from '../ui/format.ts'
import { LoadError } from '../ui/load-error.tsx'
import { Spinner } from '../ui/spinner.tsx'
import { fieldQuery } from './field-query.ts'

/** Maximum number of bytes that are loaded. */
const MOST = 8_000_000

/** Renders the value of one field of an asset. */
export function FieldPreview({ reference }: { reference: string }) {
  const { client } = useServer()
  const { data, error, refetch } = useQuery(fieldQuery(client, reference, MOST))
  return (
    <div className="space-y-2">
      <p className="font-mono text-xs [overflow-wrap:anywhere] text-asset">{reference}</p>
      {error && <LoadError what="The field" error={error} onRetry={() => void refetch()} />}
      {!data && !error && <Spinner label="Loading the field" />}
      {data && (
        <JsonTree
          value={data.value}
          label="Value"
          className="max-h-[32rem] overflow-auto rounded-lg border border-line p-2"
        />
      )}
      {data?.cut && (
        <p className="text-xs text-ink-3">
          The first {formatBytes(MOST)} of it;{' '}
          <a
            href={client.assetUrl(reference, { download: true })}
            download
            className="rounded text-ring hover:underline"
          >
            download it
          </a>{' '}
          for the rest.
        </p>
      )}
    </div>
  )
}
