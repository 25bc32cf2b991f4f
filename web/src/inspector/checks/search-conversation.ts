import { client, debugObject } from '../../app/client.ts'
import { findInJson } from '../../json/find-in-json.ts'
import { type JsonPath, pointer } from '../../json/tree-rows.ts'
import { isRecord } from '../../ui/is-record.ts'

/** A place in what is behind a conversation that has the text. */
export interface Hit {
  messageId: string
  /** Whether it stands in a message's debug data or in the message itself. */
  part: 'debug' | 'message'
  /** JSON Pointer into it. */
  at: string
  /** The value there, shortened. */
  value: string
}

/** What a search has come to so far. */
export interface SearchProgress {
  hits: readonly Hit[]
  /** How many lines of the conversation were read. */
  lines: number
  /** Whether it goes on, has read all, or ended with as many hits as are shown. */
  state: 'reading' | 'done' | 'cut'
}

/** Hits after which a search ends. */
const MOST = 300

/**
 * Searches all messages and, for who may see them, all debug data, as they are exported: each line is read once and none is kept.
 * `onProgress` is told now and then.
 */
export async function searchConversation(
  conversation: string,
  text: string,
  {
    debug,
    signal,
    onProgress,
  }: { debug: boolean; signal: AbortSignal; onProgress: (progress: SearchProgress) => void },
): Promise<SearchProgress> {
  const response = await client.exportConversation(conversation, { debug, signal })
  // As it stands in a line of JSON.
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
  /** The pieces of the line that is not over yet: a line may be many megabytes long. */
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
