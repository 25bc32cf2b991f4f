import { type ParseError, parse, printParseErrorCode } from 'jsonc-parser'
import { formatCount } from '../ui/format.ts'
import { Notice } from '../ui/notice.tsx'
import { DownloadLink } from './download-link.tsx'

/** Number of characters that are shown before and after the place of the problem. */
const AROUND = 40

/** Says what is wrong in a text that is not JSON, and in which line, and shows that place. */
export function JsonProblem({ text, reference }: { text: string; reference: string }) {
  const problem = findJsonProblem(text)
  if (!problem) return null
  const { what, line, column, offset } = problem
  const before = text.slice(0, offset).split('\n').at(-1) ?? ''
  const after = text.slice(offset).split('\n', 1)[0] ?? ''
  return (
    <Notice tone="warn" className="mb-1.5" actions={<DownloadLink reference={reference} />}>
      This is not valid JSON. Line {formatCount(line)}, column {formatCount(column)}: {what}.
      <code className="mt-1 block font-mono text-xs text-ink-2">
        {before.length > AROUND && '…'}
        {before.slice(-AROUND)}
        <mark className="rounded-sm bg-bad-soft text-bad">{after.slice(0, 1) || '⏎'}</mark>
        {after.slice(1, AROUND)}
        {after.length > AROUND && '…'}
      </code>
    </Notice>
  )
}

/** Returns the first problem of a text that is not JSON, or null. Lines and columns begin with 1. */
export function findJsonProblem(
  text: string,
): { what: string; line: number; column: number; offset: number } | null {
  const errors: ParseError[] = []
  parse(text, errors, { disallowComments: true })
  const [first] = errors.sort((a, b) => a.offset - b.offset)
  if (!first) return null
  const lines = text.slice(0, first.offset).split('\n')
  const what = printParseErrorCode(first.error)
    .replace(/(?<=[a-z])([A-Z])/g, ' $1')
    .toLowerCase()
  const column = (lines.at(-1)?.length ?? 0) + 1
  return { what, line: lines.length, column, offset: first.offset }
}
