import type { AssetInfo } from 'byref/client'
import { useMemo, useState } from 'react'
import { useServer } from '../app/server.ts'
import { useQuery } from '../app/server-queries.ts'
import { JsonTree } from '../json/json-tree.tsx'
import { Button } from '../ui/button.tsx'
import { formatBytes } from '../ui/format.ts'
import { lazyPart } from '../ui/lazy-part.tsx'
import { LoadError } from '../ui/load-error.tsx'
import { ScrollArea } from '../ui/scroll-area.tsx'
import { Spinner } from '../ui/spinner.tsx'
import { readStart } from './read-start.ts'

const JsonProblem = lazyPart(async () => (await import('./json-problem.tsx')).JsonProblem)

const MOST_JSON = 8_000_000
const MOST_TEXT = 200_000

/** Returns whether bytes of this type can be read as text. */
export function isText(mime: string): boolean {
  return /^text\/|[/+](json|xml|javascript|typescript|yaml|toml|x-ndjson)\b|^<class/.test(mime)
}

/**
 * Renders text as text and JSON as a tree. It says what is wrong in a file that should be JSON and is not. Of large files
 * it shows the beginning.
 */
export function TextPreview({ asset }: { asset: AssetInfo }) {
  const { client } = useServer()
  const isJson = /[/+]json\b|^<class/.test(asset.mime) && asset.size < MOST_JSON
  const { data, error, refetch } = useQuery({
    queryKey: ['text', asset.assetId],
    queryFn: async ({ signal }) => {
      const response = await client.assetContent(asset.ref, { signal })
      return readStart(response, isJson ? MOST_JSON : MOST_TEXT)
    },
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 60_000,
  })
  const json = useMemo(() => (isJson && data ? parseJson(data.text) : null), [isJson, data])
  if (error) return <LoadError what="The content" error={error} onRetry={() => void refetch()} />
  if (!data) return <Spinner label="Loading the content" />
  if (json) {
    return (
      <JsonTree
        value={json.value}
        label="Content"
        className="max-h-[26rem] overflow-auto rounded-lg border border-line p-2"
      />
    )
  }
  // A file that is declared as JSON but cannot be parsed may be large, too.
  const text = data.text.slice(0, MOST_TEXT)
  return (
    <>
      {isJson && !data.cut && <JsonProblem text={data.text} reference={asset.ref} />}
      {/^text\/html\b/.test(asset.mime) ? <HtmlPreview html={text} /> : <Source text={text} />}
      {(data.cut || text.length < data.text.length) && (
        <p className="mt-1 text-xs text-ink-3">
          The beginning of {formatBytes(asset.size)}; download it for the rest.
        </p>
      )}
    </>
  )
}

/** Renders a page in a sandbox: no scripts, no origin, no network. */
function HtmlPreview({ html }: { html: string }) {
  const [source, setSource] = useState(false)
  return (
    <div className="space-y-1.5">
      <Button look="outline" aria-pressed={source} onClick={() => setSource(!source)}>
        {source ? 'Show page' : 'Show source'}
      </Button>
      {source ? (
        <Source text={html} />
      ) : (
        <iframe
          sandbox=""
          srcDoc={html}
          title="Page preview"
          className="h-96 w-full rounded-lg border border-line bg-white"
        />
      )}
    </div>
  )
}

function Source({ text }: { text: string }) {
  return (
    <ScrollArea className="max-h-[26rem] rounded-lg border border-line bg-sunken">
      <pre
        dir="auto"
        className="p-2.5 font-mono text-xs whitespace-pre-wrap [overflow-wrap:anywhere]"
      >
        {text}
      </pre>
    </ScrollArea>
  )
}

function parseJson(text: string): { value: unknown } | null {
  try {
    return { value: JSON.parse(text) }
  } catch {
    return null
  }
}
