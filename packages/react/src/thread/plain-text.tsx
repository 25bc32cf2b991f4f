import { findTextMarks } from 'byref/client'
import { Fragment } from 'react'
import { EmbeddedAsset } from '../references/embedded-asset.tsx'
import { findEmbedded } from '../references/kinds.ts'
import { EmbeddedVariable } from '../references/variable-chip.tsx'

/** Renders text literally. Only references between `<|` and `|>` show their values. */
export function PlainText({ text }: { text: string }) {
  const found = marksIn(text)
  return (
    <p dir="auto" className="prose-byref whitespace-pre-wrap [unicode-bidi:plaintext]">
      {found.map((mark, index) => (
        <Fragment key={mark.start}>
          {text.slice(found[index - 1]?.end ?? 0, mark.start)}
          {mark.url === undefined ? (
            <EmbeddedVariable reference={mark.variable} />
          ) : (
            <EmbeddedAsset reference={mark.url} />
          )}
        </Fragment>
      ))}
      {text.slice(found.at(-1)?.end ?? 0)}
    </p>
  )
}

type Mark = { start: number; end: number } & (
  | { url: string }
  | { url?: undefined; variable: string }
)

function marksIn(text: string): Mark[] {
  const variables = findTextMarks(text).flatMap((mark): Mark[] =>
    mark.type === 'variable' ? [{ start: mark.start, end: mark.end, variable: mark.text }] : [],
  )
  return [...findEmbedded(text, { markdown: false }), ...variables].sort(
    (a, b) => a.start - b.start,
  )
}
