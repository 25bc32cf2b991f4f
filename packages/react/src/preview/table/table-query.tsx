import type { AssetInfo } from 'byref/client'
import { Play } from 'lucide-react'
import { useState } from 'react'
import { PlaceLink } from '../../app/navigation.tsx'
import { useServer } from '../../app/server.ts'
import { ActionError } from '../../ui/action-error.tsx'
import { Button } from '../../ui/button.tsx'
import { formatCount } from '../../ui/format.ts'
import { useAction } from '../../ui/use-action.ts'

/** Queries the table with SQL. The result is a new table with its own reference. */
export function TableQuery({ asset }: { asset: AssetInfo }) {
  const { client } = useServer()
  const [sql, setSql] = useState('SELECT count(*) AS rows FROM t')
  const { run, isBusy, result, error } = useAction(() =>
    client.query({ sql, tables: { t: asset.ref } }),
  )
  return (
    <form
      aria-label="SQL"
      className="space-y-2 border-t border-line bg-sunken p-2 text-xs"
      onSubmit={(event) => {
        event.preventDefault()
        run()
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
        <Button look="solid" type="submit" disabled={isBusy || sql.trim() === ''}>
          <Play aria-hidden /> {isBusy ? 'Running…' : 'Run'}
        </Button>
        {result && (
          <p role="status">
            {rowsOf(result.table?.rows ?? 0)}:{' '}
            <PlaceLink
              to={{ type: 'asset', id: result.assetId }}
              className="font-medium text-ring underline"
            >
              open the result
            </PlaceLink>
          </p>
        )}
      </div>
      <ActionError error={error} />
    </form>
  )
}

function rowsOf(count: number): string {
  return `${formatCount(count)} ${count === 1 ? 'row' : 'rows'}`
}
