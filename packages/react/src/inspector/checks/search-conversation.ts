import type { Client } from 'byref/client'
import { debugObject } from '../../app/server.ts'
import { findInJson } from '../../json/find-in-json.ts'
import { type JsonPath, pointer } from '../../json/tree-rows.ts'
import { isRecord } from '../../ui/is-record.ts'

/** A place in the data of a conversation that contains the text. */
export interface Hit {
  messageId: string
  /** Whether it is in a message's debug data or in the message itself. */
  part: 'debug' | 'message'
  /** JSON Pointer to the value. */
  at: string
  /** The value there, shortened. */
  value: string
}

/** The progress of a search. */
export interface SearchProgress {
  hits: readonly Hit[]
  /** Number of lines of the conversation that were read. */
  lines: number
  /** Whether the search continues, has read everything, or ended at the maximum number of hits. */
  state: 'reading' | 'done' | 'cut'
}

/** Maximum number of hits. */
const MOST = 300

/**
 * Searches all messages and, for users who may see them, all debug data. It reads the export line by line and keeps no
 * line. `onProgress` is called from time to time.
 */
export async function searchConversation(
  client: Client,
  conversation: string,
  text: string,
  {
    debug,
    signal,
    onProgress,
  }: { debug: boolean; signal: AbortSignal; onProgress: (progress: SearchProgress) => void },
): Promise<SearchProgress> {
  const response = await client.exportConversation(conversation, { debug, signal })
  // The text as it is escaped in a line of JSON.
  const written = JSON.stringify(text).slice(1, -1).toLowerCase()
  const hits: Hit[] = []
  let lines = 0
  for await (const line of linesOf(response)) {
    lines++
    if (line.toLowerCase().includes(written)) {
      hits.push(...(await hitsIn(JSON.parse(line), text, signal)))
    }
    signal.throwIfAborted()
    if (hits.length >= MOST) break
    if (lines % 200 === 0) onProgress({ hits: [...hits], lines, state: 'reading' })
  }
  return { hits: hits.slice(0, MOST), lines, state: hits.length < MOST ? 'done' : 'cut' }
}

async function hitsIn(line: unknown, text: string, signal: AbortSignal): Promise<Hit[]> {
  const { event, debug, value } = Object(line)
  const isMessage = event?.type === 'NEW_MESSAGE' && isRecord(event.payload)
  if (!isMessage && typeof debug !== 'string') return []
  const messageId = isMessage ? String(event.payload.id) : debug
  const [part, searched] = isMessage
    ? (['message', event.payload] as const)
    : (['debug', debugObject(value)] as const)
  const paths = await findInJson(searched, text, { signal, most: 20 })
  return paths.map((path) => {
    return { messageId, part, at: pointer(path), value: shortOf(searched, path) }
  })
}

function shortOf(value: unknown, path: JsonPath): string {
  const found = path.reduce((node, key) => Object(node)[key], value)
  return (typeof found === 'string' ? found : (JSON.stringify(found) ?? '')).slice(0, 120)
}

async function* linesOf(response: Response): AsyncGenerator<string> {
  if (!response.body) return
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader()
  /** The parts of the current line, which may have many megabytes. */
  let pieces: string[] = []
  try {
    for (;;) {
      const { done, value = '' } = await reader.read()
      const ends = value.split('\n')
      for (const [place, end] of ends.entries()) {
        pieces.push(end)
        if (place === ends.length - 1 && !done) break
        const line = pieces.join('')
        pieces = []
        if (line !== '') yield line
      }
      if (done) return
    }
  } finally {
    await reader.cancel().catch(() => {})
  }
}
