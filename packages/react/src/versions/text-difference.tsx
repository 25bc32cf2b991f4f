import type { AssetInfo } from 'byref/client'
import { useMemo, useState } from 'react'
import { useServer } from '../app/server.ts'
import { useQuery } from '../app/server-queries.ts'
import { cn } from '../ui/cn.ts'
import { formatCount } from '../ui/format.ts'
import { LoadError } from '../ui/load-error.tsx'
import { More } from '../ui/more.tsx'
import { Notice } from '../ui/notice.tsx'
import { Spinner } from '../ui/spinner.tsx'
import {
  type ChangedRow,
  compareTexts,
  type LinePart,
  markWords,
  type NumberedLine,
  type TextBlock,
} from './compare-texts.ts'
import { wholeTextQuery } from './read-text.ts'

/** Unchanged lines that are shown around a change. */
const CONTEXT = 3
/** Unchanged lines that a click unfolds. */
const UNFOLDED = 200
/** Changed rows that are drawn at once. */
const MOST_ROWS = 400
/** Characters of a part of a long line that are shown. */
const MOST_CHARS = 400

/** Loads two texts, and shows their differences line by line. */
export function TextDifference({ before, after }: { before: AssetInfo; after: AssetInfo }) {
  const { client } = useServer()
  const old = useQuery(wholeTextQuery(client, before))
  const now = useQuery(wholeTextQuery(client, after))
  const failed = [old, now].find(({ error }) => error)
  if (failed) {
    return (
      <LoadError
        what="The content"
        error={failed.error}
        onRetry={() => void Promise.all([old.refetch(), now.refetch()])}
      />
    )
  }
  if (old.data === undefined || now.data === undefined) return <Spinner label="Comparing" />
  if (old.data === null || now.data === null) {
    return (
      <Notice tone="info">These files are not text. Download both above to compare them.</Notice>
    )
  }
  return <ComparedTexts before={old.data} after={now.data} />
}

/** Shows the differences of two texts: two columns if there is room, otherwise one. Unchanged parts are folded. */
export function ComparedTexts({ before, after }: { before: string; after: string }) {
  const { blocks, added, removed, isCoarse } = useMemo(
    () => compareTexts(...withoutLastBreak(before, after)),
    [before, after],
  )
  const [most, setMost] = useState(MOST_ROWS)
  if (added + removed === 0) {
    return (
      <p role="status" className="text-sm text-ink-2">
        Both versions have the same text.
      </p>
    )
  }
  const { shown, left } = someOf(blocks, most)
  return (
    <div className="@container space-y-2">
      <p role="status" className="text-xs text-ink-2 tabular-nums">
        <span className="text-good">+{formatCount(added)}</span>{' '}
        <span className="text-bad">−{formatCount(removed)}</span>{' '}
        {added + removed === 1 ? 'line' : 'lines'}
      </p>
      {isCoarse && (
        <Notice tone="info">
          So many lines are different that all lines between the first and the last change are shown
          as replaced.
        </Notice>
      )}
      <section
        aria-label="Differences"
        className="overflow-hidden rounded-lg border border-line font-mono text-xs leading-5"
      >
        {shown.map((block, index) =>
          block.type === 'same' ? (
            <SameLines
              key={`same ${block.before}`}
              block={block}
              isFirst={index === 0}
              isLast={index === blocks.length - 1}
            />
          ) : (
            <ChangedLines key={keyOf(block.rows)} rows={block.rows} />
          ),
        )}
      </section>
      <More what="changed lines" count={left} onReach={() => setMost(most + MOST_ROWS)} />
    </div>
  )
}

/** Removes the line break at the end of both texts, after which there is no line. */
function withoutLastBreak(before: string, after: string): [string, string] {
  const both = before.endsWith('\n') && after.endsWith('\n')
  return both ? [before.slice(0, -1), after.slice(0, -1)] : [before, after]
}

function keyOf(rows: readonly ChangedRow[]): string {
  const [first] = rows
  return `changed ${first?.before?.number ?? ''} ${first?.after?.number ?? ''}`
}

/** Returns the first blocks with up to `most` changed rows, and the number of rows that are left out. */
function someOf(blocks: readonly TextBlock[], most: number): { shown: TextBlock[]; left: number } {
  const shown: TextBlock[] = []
  let room = most
  let left = 0
  for (const block of blocks) {
    if (block.type === 'same') {
      if (room > 0) shown.push(block)
      continue
    }
    if (room > 0) shown.push({ type: 'changed', rows: block.rows.slice(0, room) })
    left += Math.max(0, block.rows.length - room)
    room = Math.max(0, room - block.rows.length)
  }
  return { shown, left }
}

interface SameLinesProps {
  block: Extract<TextBlock, { type: 'same' }>
  isFirst: boolean
  isLast: boolean
}

/** Renders unchanged lines: those next to a change, and a button that unfolds the others some at a time. */
function SameLines({ block: { before, after, lines }, isFirst, isLast }: SameLinesProps) {
  const [unfolded, setUnfolded] = useState(0)
  const head = isFirst ? 0 : CONTEXT
  const tail = isLast ? 0 : CONTEXT
  const hidden = lines.length - head - tail
  const shownHead = hidden <= 1 ? lines.length : head + Math.min(unfolded, hidden)
  const left = hidden <= 1 ? 0 : hidden - Math.min(unfolded, hidden)
  const row = (at: number) => (
    <Row
      key={at}
      before={{ number: before + at, text: lines[at] ?? '' }}
      after={{ number: after + at, text: lines[at] ?? '' }}
      isSame
    />
  )
  const indexes = (from: number, to: number) =>
    Array.from({ length: Math.max(0, to - from) }, (_, at) => from + at)
  return (
    <>
      {indexes(0, shownHead).map(row)}
      {left > 0 && (
        <button
          type="button"
          onClick={() => setUnfolded(unfolded + UNFOLDED)}
          className="block w-full border-y border-line bg-sunken px-3 py-0.5 text-start font-sans text-ring -outline-offset-2 first:border-t-0 last:border-b-0 hover:underline pointer-coarse:py-2"
        >
          {left <= UNFOLDED
            ? `Show ${formatCount(left)} unchanged lines`
            : `Show ${formatCount(UNFOLDED)} of ${formatCount(left)} unchanged lines`}{' '}
          <span className="sr-only">from line {formatCount(after + shownHead)}</span>
        </button>
      )}
      {left > 0 && indexes(lines.length - tail, lines.length).map(row)}
    </>
  )
}

function ChangedLines({ rows }: { rows: readonly ChangedRow[] }) {
  return rows.map((row) => (
    <Row key={`${row.before?.number ?? ''} ${row.after?.number ?? ''}`} {...row} />
  ))
}

/** Renders a line of both texts. */
function Row({ before, after, isSame = false }: ChangedRow & { isSame?: boolean }) {
  const parts = useMemo(
    () => (before && after && !isSame ? markWords(before.text, after.text) : null),
    [before, after, isSame],
  )
  const showsBreak = before?.text.endsWith('\r') !== after?.text.endsWith('\r')
  return (
    <div className="grid @3xl:grid-cols-2 @3xl:divide-x @3xl:divide-line">
      {isSame ? (
        // One column shows the line once, with the number that it has now.
        <div aria-hidden className="hidden @3xl:block">
          <Line line={before} parts={null} sign=" " />
        </div>
      ) : (
        <Line line={before} parts={parts?.before ?? null} sign="−" showsBreak={showsBreak} />
      )}
      <Line
        line={after}
        parts={parts?.after ?? null}
        sign={isSame ? ' ' : '+'}
        showsBreak={showsBreak}
      />
    </div>
  )
}

interface LineProps {
  line: NumberedLine | null
  /** The parts of a line that has a counterpart. */
  parts: readonly LinePart[] | null
  sign: '+' | '−' | ' '
  /** Whether a carriage return at the end is the change. */
  showsBreak?: boolean
}

const SIGNS = {
  '+': { look: 'bg-good-soft', tone: 'text-good', element: 'ins' },
  '−': { look: 'bg-bad-soft', tone: 'text-bad', element: 'del' },
  ' ': { look: '', tone: 'text-ink-3', element: 'span' },
} as const

function Line({ line, parts, sign, showsBreak = false }: LineProps) {
  if (!line) return <div aria-hidden className="hidden bg-sunken @3xl:block" />
  const { look, tone, element: Element } = SIGNS[sign]
  return (
    <div className={cn('flex min-w-0', look)}>
      <span className={cn('min-w-[5ch] shrink-0 px-1.5 text-end tabular-nums select-none', tone)}>
        {formatCount(line.number)}
      </span>
      <span aria-hidden className={cn('w-[2ch] shrink-0 select-none', tone)}>
        {sign}
      </span>
      <Element className="block min-w-0 flex-1 no-underline">
        <span
          dir="auto"
          className="block min-h-5 pe-2 whitespace-pre-wrap [overflow-wrap:anywhere]"
        >
          {(parts ?? [{ text: line.text, isChanged: false }]).map((part, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: parts have their places
            <Part key={index} part={part} showsBreak={showsBreak} />
          ))}
        </span>
      </Element>
    </div>
  )
}

const MARK = 'font-semibold underline decoration-2'

// In forced colours, the text of a `mark` element may have the colour of the page.
function Part({ part, showsBreak }: { part: LinePart; showsBreak: boolean }) {
  const text = shortened(part.text).replace(/\r$/, showsBreak ? '␍' : '')
  return part.isChanged ? <strong className={MARK}>{text}</strong> : text
}

/** Cuts a long text in the middle, and says how much is left out. */
function shortened(text: string): string {
  if (text.length <= 2 * MOST_CHARS) return text
  const left = formatCount(text.length - MOST_CHARS)
  const half = MOST_CHARS / 2
  return `${text.slice(0, half)} … ${left} characters … ${text.slice(-half)}`
}
