import { useQuery } from '@tanstack/react-query'
import { client } from '../app/client.ts'
import { JsonTree } from '../json/json-tree.tsx'
import { formatBytes } from '../ui/format.ts'
import { LoadError } from '../ui/load-error.tsx'
import { Spinner } from '../ui/spinner.tsx'
import { readStart } from './read-start.ts'

/** Bytes that are loaded. */
const MOST = 8_000_000

/** The value of one field of an asset. */
export function FieldPreview({ reference }: { reference: string }) {
  const { data, error, refetch } = useQuery({
    queryKey: ['field', reference],
    queryFn: async ({ signal }) => {
      const response = await client.assetContent(reference, { signal })
      const isJson = response.headers.get('content-type')?.includes('json') ?? false
      const { text, cut } = await readStart(response, MOST)
      return { value: isJson && !cut ? (JSON.parse(text) as unknown) : text, cut }
    },
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 60_000,
  })
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
