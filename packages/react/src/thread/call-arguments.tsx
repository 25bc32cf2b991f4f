import { JsonTree } from '../json/json-tree.tsx'
import { fittingDepth, isBranch } from '../json/tree-rows.ts'
import { InlineValue } from '../references/inline-value.tsx'

/** Renders a call's arguments as a list of names and values. The target of its output is last. */
export function CallArguments({ values }: { values: Record<string, unknown> }) {
  const entries = Object.entries(values)
  if (entries.length === 0) return <p className="px-2.5 py-1.5 text-ink-3">No arguments</p>
  const bookkeeping = (key: string) => key === '_outputPath' || key === '_instance'
  const sorted = [
    ...entries.filter(([key]) => !bookkeeping(key)),
    ...entries.filter(([key]) => bookkeeping(key)),
  ]
  return (
    <dl
      dir="ltr"
      className="grid grid-cols-[minmax(4rem,auto)_minmax(0,1fr)] gap-x-3 gap-y-1 px-2.5 py-2"
    >
      {sorted.map(([key, value]) => (
        <div key={key} className="contents">
          <dt className="max-w-40 truncate font-mono leading-5 text-ink-3" title={key}>
            {key === '_outputPath' ? 'writes to' : key}
          </dt>
          <dd className="min-w-0 font-mono leading-5 [overflow-wrap:anywhere]">
            {isBranch(value) ? (
              <JsonTree value={value} label={key} depth={fittingDepth(value, 8)} />
            ) : (
              <InlineValue value={value} isTarget={key === '_outputPath'} />
            )}
          </dd>
        </div>
      ))}
    </dl>
  )
}
