import { Fragment } from 'react'
import { EmbeddedAsset } from '../references/embedded-asset.tsx'
import { findEmbedded } from '../references/kinds.ts'

/** Text to the letter; only references between `<|` and `|>` show what they name. */
export function PlainText({ text }: { text: string }) {
  const found = findEmbedded(text, { markdown: false })
  return (
    <p className="prose-byref whitespace-pre-wrap">
      {found.map(({ start, url }, index) => (
        <Fragment key={start}>
          {text.slice(found[index - 1]?.end ?? 0, start)}
          <EmbeddedAsset reference={url} />
        </Fragment>
      ))}
      {text.slice(found.at(-1)?.end ?? 0)}
    </p>
  )
}
