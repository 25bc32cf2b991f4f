import { Fragment, useState } from 'react'
import { formatCount } from '../ui/format.ts'
import { visibleText } from '../ui/visible-text.ts'
import { AssetChip } from './asset-chip.tsx'
import { findEmbedded, isAsset, isVariable } from './kinds.ts'
import { VariableChip } from './variable-chip.tsx'

const LONG = 280

/** Renders a scalar of JSON. A reference is a chip; long text is cut, with a button for the rest. */
export function InlineValue({
  value,
  isTarget = false,
}: {
  value: unknown
  /** Whether it is the target of a write. */
  isTarget?: boolean
}) {
  if (typeof value === 'string') {
    if (isAsset(value)) return <AssetChip reference={value} literal />
    if (isVariable(value)) return <VariableChip reference={value} isTarget={isTarget} />
    return <Text text={value} />
  }
  if (value === null || value === undefined)
    return <span className="text-ink-3">{String(value)}</span>
  if (typeof value === 'number' || typeof value === 'boolean') {
    return <span className="text-asset tabular-nums">{String(value)}</span>
  }
  return <span>{JSON.stringify(value)}</span>
}

function Text({ text }: { text: string }) {
  const [whole, setWhole] = useState(false)
  const cut = text.length > LONG && !whole
  return (
    <span dir="auto" className="whitespace-pre-wrap text-ink">
      "<WithChips text={cut ? text.slice(0, LONG) : text} />
      {cut ? '…' : '"'}
      {cut && (
        <button
          type="button"
          className="ms-1 rounded text-ring hover:underline"
          onClick={(event) => {
            event.stopPropagation()
            setWhole(true)
          }}
        >
          {formatCount(text.length)} characters
        </button>
      )}
    </span>
  )
}

/** Renders text with a chip for each reference between `<|` and `|>`. */
function WithChips({ text }: { text: string }) {
  const found = findEmbedded(text, { markdown: false })
  return (
    <>
      {found.map(({ start, url }, index) => (
        <Fragment key={start}>
          {visibleText(text.slice(found[index - 1]?.end ?? 0, start))}
          {'<|'}
          <AssetChip reference={url} literal />
          {'|>'}
        </Fragment>
      ))}
      {visibleText(text.slice(found.at(-1)?.end ?? 0))}
    </>
  )
}
