import { lazy, Suspense } from 'react'
import { AssetChip } from '../references/asset-chip.tsx'
import { isAsset } from '../references/kinds.ts'
import { PlainText } from '../thread/plain-text.tsx'

// Asked for at once, beside what it will show.
const loading = import('../thread/markdown.tsx')
const Markdown = lazy(async () => ({ default: (await loading).Markdown }))

/** Text, as Markdown unless it is plain; one that is an asset's URL as a whole shows what that names. */
export function Text({ text, plain = false }: { text: string; plain?: boolean }) {
  if (plain) return <PlainText text={text} />
  if (isAsset(text)) return <AssetChip reference={text} />
  return (
    <Suspense fallback={<p className="prose-byref whitespace-pre-wrap">{text}</p>}>
      <Markdown text={text} />
    </Suspense>
  )
}
