import { useState } from 'react'
import { InlineValue } from '../references/inline-value.tsx'
import { Button } from '../ui/button.tsx'
import { CopyButton } from '../ui/copy-button.tsx'
import { formatCount } from '../ui/format.ts'
import { ScrollArea } from '../ui/scroll-area.tsx'

const FIRST = 40

/** Renders a flattened meta, line by line, as a model sees it. Every key is a reference. */
export function MetaList({ meta }: { meta: Record<string, unknown> }) {
  const [whole, setWhole] = useState(false)
  const entries = Object.entries(meta)
  const shown = whole ? entries : entries.slice(0, FIRST)
  return (
    <div dir="ltr" className="relative overflow-hidden rounded-lg border border-line bg-sunken">
      <CopyButton
        label="Copy meta"
        text={() => JSON.stringify(meta, null, 2)}
        className="absolute top-1 inset-e-1"
      />
      <ScrollArea className="max-h-96 p-2.5">
        <dl className="font-mono text-xs leading-5">
          {shown.map(([key, value]) => (
            <div key={key} className="flex gap-2">
              <dt className="shrink-0 text-ink-2">{key}</dt>
              <dd className="min-w-0 [overflow-wrap:anywhere]">
                {typeof value === 'string' && /^<(class|cut|cycle)/.test(value) ? (
                  <span className="text-ink-3">{value}</span>
                ) : (
                  <InlineValue value={value} />
                )}
              </dd>
            </div>
          ))}
        </dl>
        {shown.length < entries.length && (
          <Button className="mt-1 h-6 px-1 text-xs text-ring" onClick={() => setWhole(true)}>
            Show all {formatCount(entries.length)} lines
          </Button>
        )}
      </ScrollArea>
    </div>
  )
}
