import type { AssetInfo } from 'byref/client'
import { Play } from 'lucide-react'
import { useState } from 'react'
import { PlaceLink } from '../../app/navigation.tsx'
import { useServer } from '../../app/server.ts'
import { useMutation } from '../../app/server-queries.ts'
import { Button } from '../../ui/button.tsx'
import { errorText } from '../../ui/error-text.ts'
import { formatCount } from '../../ui/format.ts'
import { Notice } from '../../ui/notice.tsx'

/** Queries the table with SQL. The result is a new table with its own reference. */
export function TableQuery({ asset }: { asset: AssetInfo }) {
  const { client } = useServer()
  const [sql, setSql] = useState('SELECT count(*) AS rows FROM t')
  const query = useMutation({
    mutationFn: () => client.query({ sql, tables: { t: asset.ref } }),
  })
  const problem = query.error && errorText(query.error)
  return (
    <form
      aria-label="SQL"
      className="space-y-2 border-t border-line bg-sunken p-2 text-xs"
      onSubmit={(event) => {
        event.preventDefault()
        if (!query.isPending) query.mutate()
      }}
    >
      <label className="block space-y-2">
        <span className="text-ink-3">
          This table is <code className="font-mono text-ink">t</code>; Ctrl Enter runs the query.
        </span>
        <textarea
          dir="ltr"
          value={sql}
          spellCheck={false}
          rows={3}
          onChange={(event) => setSql(event.target.value)}
          onKeyDown={(event) => {
            if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return
            event.preventDefault()
            event.currentTarget.form?.requestSubmit()
          }}
          className="block w-full resize-y rounded-md border border-line-strong bg-surface p-2 font-mono max-md:text-[1rem]"
        />
      </label>
      <div className="flex items-center gap-2">
        <Button look="solid" type="submit" disabled={query.isPending || sql.trim() === ''}>
          <Play aria-hidden /> {query.isPending ? 'Running…' : 'Run'}
        </Button>
        {query.data && !query.isPending && (
          <p role="status">
            {rowsOf(query.data.table?.rows ?? 0)}:{' '}
            <PlaceLink
              to={{ type: 'asset', id: query.data.assetId }}
              className="font-medium text-ring underline"
            >
              open the result
            </PlaceLink>
          </p>
        )}
      </div>
      {problem && (
        <Notice tone="bad" code={problem.code} live>
          {problem.message}
        </Notice>
      )}
    </form>
  )
}

function rowsOf(count: number): string {
  return `${formatCount(count)} ${count === 1 ? 'row' : 'rows'}`
}
