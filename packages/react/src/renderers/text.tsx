import { Download } from 'lucide-react'
import { useState } from 'react'
import { AssetChip } from '../references/asset-chip.tsx'
import { isAsset } from '../references/kinds.ts'
import { PlainText } from '../thread/plain-text.tsx'
import { Button } from '../ui/button.tsx'
import { CopyButton } from '../ui/copy-button.tsx'
import { formatCount } from '../ui/format.ts'
import { lazyPart } from '../ui/lazy-part.tsx'
import { saveFile } from '../ui/save-file.ts'

const load = async () => (await import('../thread/markdown.tsx')).Markdown
// Loaded at once, together with what it will show.
load().catch(() => {})
const Markdown = lazyPart(load, ({ text }) => (
  <p dir="auto" className="prose-byref whitespace-pre-wrap">
    {text}
  </p>
))

/** Number of characters that are drawn at first, and with each "Show more". Slightly longer text is drawn whole. */
const FIRST = 20_000
const SPARE = 5_000

/**
 * Renders text, as Markdown unless it is plain. Text that is a single asset URL shows the asset. Of a very long text
 * the beginning is drawn, and the whole text can be copied and saved.
 */
export function Text({ text, plain = false }: { text: string; plain?: boolean }) {
  const [most, setMost] = useState(FIRST)
  if (text.length <= most + SPARE) return <Drawn text={text} plain={plain} />
  return (
    <>
      <Drawn text={text.slice(0, most)} plain={plain} />
      <div className="mt-1 flex flex-wrap items-center gap-1 text-xs text-ink-3 tabular-nums">
        <span>
          The first {formatCount(most)} of {formatCount(text.length)} characters.
        </span>
        <Button className="h-6 px-1.5 text-xs text-ring" onClick={() => setMost(most + 2 * FIRST)}>
          Show more
        </Button>
        <CopyButton label="Copy all" text={text} className="size-6 [&_svg]:size-3.5" />
        <Button
          icon
          aria-label="Save all"
          title="Save all"
          className="size-6 [&_svg]:size-3.5"
          onClick={() => saveFile(new Blob([text], { type: 'text/plain' }), 'text.txt')}
        >
          <Download aria-hidden />
        </Button>
      </div>
    </>
  )
}

function Drawn({ text, plain }: { text: string; plain: boolean }) {
  if (plain) return <PlainText text={text} />
  if (isAsset(text)) return <AssetChip reference={text} />
  return <Markdown text={text} />
}
