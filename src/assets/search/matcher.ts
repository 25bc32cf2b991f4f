import type { Worker as Thread } from 'node:worker_threads'
import { ByrefError, errorMessage } from '../../core/errors.ts'
import { inBackground } from '../../core/in-background.ts'
import { onAbort } from '../../core/on-abort.ts'
import { startLimit } from '../../core/timer.ts'
import { nodeBuiltin } from '../../node-builtin.ts'
import type { Piece } from './line-pieces.ts'

const { Worker } = nodeBuiltin('node:worker_threads')

/** The text or expression to search for. */
export interface SearchQuery {
  query: string
  /** Whether it is a JavaScript regular expression. Default: text. */
  regex?: boolean
  /** Default false. */
  caseSensitive?: boolean
}

/** The first match in a piece: the index of the piece, and the position of the match in its text. */
export interface PieceMatch {
  index: number
  start: number
  length: number
}

/** Searches pieces in a thread of its own, so that no expression can block the process. */
export interface Matcher {
  /**
   * Returns the first `most` pieces that match.
   *
   * @throws ByrefError `tool_timeout` if an expression takes too long; `invalid_arguments` if it fails
   */
  match(pieces: readonly Piece[], most: number): Promise<PieceMatch[]>
  close(): Promise<void>
}

/** Maximum time of an expression for one block of the asset, and for all blocks, in milliseconds. */
const BLOCK_MS = 2_000
const TOTAL_MS = 60_000

/**
 * The program of the thread. It is text, so that it survives bundling. Pieces arrive as one text with a line for each (no
 * piece contains a line break), with the bounds of pieces that are parts of a longer line.
 */
const SOURCE = `
const { parentPort, workerData: { source, flags } } = require('node:worker_threads')
const expression = new RegExp(source, flags)
parentPort.on('message', ({ text, bounds, most }) => {
  const found = []
  const pieces = text.split('\\n')
  for (let index = 0; index < pieces.length && found.length < most; index++) {
    const [from, until] = bounds.get(index) ?? [0, Infinity]
    expression.lastIndex = from
    const match = expression.exec(pieces[index])
    if (match === null || match.index >= until) continue
    found.push({ index, start: match.index, length: match[0].length })
  }
  parentPort.postMessage(found)
})
parentPort.postMessage(null)
`

/** Options of {@link createMatcher}. */
export interface MatcherOptions {
  /** Ends the thread. */
  signal?: AbortSignal | undefined
  /** Maximum time of an expression for one call, in milliseconds. Default: 2,000. */
  blockMs?: number
  /** Maximum time for all calls, in milliseconds. Default: 60,000. */
  totalMs?: number
}

/**
 * Starts a thread that searches for the query. The caller closes it.
 *
 * @throws ByrefError `invalid_arguments` for an invalid expression
 */
export async function createMatcher(
  { query, regex = false, caseSensitive = false }: SearchQuery,
  { signal, blockMs = BLOCK_MS, totalMs = TOTAL_MS }: MatcherOptions = {},
): Promise<Matcher> {
  const workerData = expressionOf(regex ? query : escaped(query), caseSensitive)
  signal?.throwIfAborted()
  const worker = new Worker(SOURCE, { eval: true, workerData, execArgv: [], env: {} })
  const stop = (): void => inBackground('Ending a search', worker.terminate())
  const forget = signal && onAbort(signal, stop)
  // Text is found in linear time; only expressions can take too long.
  let left = totalMs
  await answerOf(worker, Infinity, signal)

  return {
    async match(pieces, most) {
      const bounds = new Map<number, [number, number]>()
      for (const [index, { from, until }] of pieces.entries()) {
        if (from > 0 || until !== Infinity) bounds.set(index, [from, until])
      }
      const text = pieces.map((piece) => piece.text).join('\n')
      if (left <= 0) throw tooSlow()
      const ms = regex ? Math.min(blockMs, left) : Infinity
      const start = performance.now()
      worker.postMessage({ text, bounds, most })
      const found = await answerOf(worker, ms, signal)
      // The process may have been suspended.
      if (regex) left -= Math.min(ms, performance.now() - start)
      return found as PieceMatch[]
    },

    async close() {
      forget?.()
      await worker.terminate()
    },
  }
}

/** The next message of the thread. */
function answerOf(worker: Thread, ms: number, signal?: AbortSignal): Promise<unknown> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason)
    const stop = startLimit(ms, () => end(() => reject(tooSlow())))
    const onMessage = (answer: unknown): void => end(() => resolve(answer))
    const onError = (error: unknown): void => end(() => reject(unworkable(error)))
    const onExit = (): void => end(() => reject(signal?.reason ?? unworkable('its thread ended')))
    function end(settle: () => void): void {
      stop()
      worker.off('message', onMessage).off('error', onError).off('exit', onExit)
      settle()
    }
    worker.on('message', onMessage).on('error', onError).on('exit', onExit)
  })
}

/** Returns the expression, with the `u` flag if it is valid with it. */
function expressionOf(source: string, caseSensitive: boolean): { source: string; flags: string } {
  const flags = caseSensitive ? 'g' : 'gi'
  for (const all of [`${flags}u`, flags]) {
    try {
      new RegExp(source, all)
      return { source, flags: all }
    } catch (error) {
      if (all === flags) throw invalid(String((error as Error).message))
    }
  }
  throw invalid(source)
}

function escaped(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&')
}

function invalid(reason: string): ByrefError {
  return new ByrefError('invalid_arguments', `query is not a valid regular expression: ${reason}`)
}

function unworkable(error: unknown): ByrefError {
  const message = `The expression cannot be run: ${errorMessage(error)}`
  return new ByrefError('invalid_arguments', message)
}

function tooSlow(): ByrefError {
  return new ByrefError(
    'tool_timeout',
    'The regular expression took too long. Write it without repetitions inside repetitions such as (a+)+, search a part of the asset, or search for text.',
  )
}
