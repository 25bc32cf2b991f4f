import { lazy, Suspense } from 'react'
import { AssetChip } from '../references/asset-chip.tsx'
import { isAsset } from '../references/kinds.ts'
import { PlainText } from '../thread/plain-text.tsx'

const Markdown = lazy(async () => ({ default: (await import('../thread/markdown.tsx')).Markdown }))

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
