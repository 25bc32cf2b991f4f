import { bytesOf, type SavedAsset, type SavedPage } from '@byref/react/saved-page'
import type { LogRecord } from 'byref/client'

const NO_SERVER = 'This is a saved page: it has no server to ask.'

/** A line of an export: the header, a record, debug data, or the end. */
type SavedLine =
  | { title: string | null }
  | LogRecord
  | { debug: string; value: unknown }
  | { byref: 'end' }

/**
 * Answers the requests of a client from the data saved with a page, like the server would. Any other request is
 * rejected.
 */
export function offlineFetch(page: SavedPage): typeof fetch {
  const lines = page.lines.map((line) => JSON.parse(line) as SavedLine)
  const records = lines.filter((line): line is LogRecord => 'event' in line)
  const debug = new Map(
    lines.flatMap((line) => ('debug' in line ? [[line.debug, line.value]] : [])),
  )
  const assets = new Map(page.assets.map((saved) => [saved.asset.assetId, saved]))
  const [head] = lines
  const title = (head && 'title' in head ? head.title : null) ?? firstWords(records)
  const summary = {
    id: page.id,
    title,
    createdAt: page.savedAt,
    updatedAt: page.savedAt,
    agent: null,
    branch: null,
    messages: 0,
    position: records.length,
    status: 'idle',
    queued: 0,
    hasRunner: false,
  }

  function conversation(path: string, query: URLSearchParams): Response | null {
    const [, part = '', message = '', what = ''] = path.split('/').map(decodeURIComponent)
    if (part === '') return json(summary)
    if (part === 'events') {
      const after = Number(query.get('after') ?? 0)
      return json({ records: records.filter(({ position }) => position > after), next: null })
    }
    if (part === 'stream') {
      return new Response(silence(), { headers: { 'content-type': 'text/event-stream' } })
    }
    if (part === 'export') {
      return new Response(`${page.lines.join('\n')}\n`, {
        headers: { 'content-type': 'application/x-ndjson' },
      })
    }
    if (part === 'messages' && what === 'debug') {
      const saved = debug.has(message)
      return saved
        ? json(debug.get(message))
        : refused(404, 'message_not_found', 'None were saved.')
    }
    return null
  }

  function asset(path: string, query: URLSearchParams): Response | null {
    const [, id = '', part = ''] = path.split('/').map(decodeURIComponent)
    const saved = assets.get(id)
    if (!saved) return refused(404, 'asset_not_found', 'It was not saved with this page.')
    if (part === '') return json({ asset: saved.asset, meta: saved.meta })
    if (part === 'rows') return rowsOf(saved, query)
    if (part === 'content' && saved.body !== null && !query.has('path')) {
      return new Response(bytesOf(saved.body), { headers: { 'content-type': saved.asset.mime } })
    }
    return refused(404, 'asset_not_found', 'Its body was not saved with this page.')
  }

  return async (input, { method = 'GET' } = {}) => {
    if (method !== 'GET') return refused(404, 'not_found', NO_SERVER)
    const { pathname, searchParams } = new URL(String(input), 'http://saved.invalid')
    const own = `/api/conversations/${encodeURIComponent(page.id)}`
    const answer =
      pathname === '/api/info'
        ? json(info(page))
        : pathname === '/api/conversations'
          ? json({ conversations: [summary], next: null })
          : pathname === own || pathname.startsWith(`${own}/`)
            ? conversation(pathname.slice(own.length), searchParams)
            : pathname.startsWith('/api/assets/')
              ? asset(pathname.slice('/api/assets'.length), searchParams)
              : null
    return answer ?? refused(404, 'not_found', NO_SERVER)
  }
}

/** Returns an event stream without events. From time to time a comment shows that it is alive. */
function silence(): ReadableStream<Uint8Array> {
  const comment = new TextEncoder().encode(':\n\n')
  let timer: ReturnType<typeof setInterval>
  return new ReadableStream({
    start(controller) {
      timer = setInterval(() => controller.enqueue(comment), 15_000)
    },
    cancel: () => clearInterval(timer),
  })
}

/** Returns the server info. The user of a saved page may read it, and its debug data if they were saved. */
function info(page: SavedPage) {
  const caller = { role: 'reader', namespace: null, subject: 'saved page' }
  return {
    name: 'byref',
    version: `saved ${page.savedAt.slice(0, 10)}`,
    agents: [],
    sql: false,
    caller,
  }
}

function rowsOf({ rows = [], columns = [], asset }: SavedAsset, query: URLSearchParams): Response {
  if (query.has('sort') || query.has('where')) {
    return refused(422, 'invalid_arguments', 'A saved page has no server to sort and filter rows.')
  }
  const offset = Number(query.get('offset') ?? 0)
  const some = rows.slice(offset, offset + Number(query.get('limit') ?? 100))
  const end = offset + some.length
  const total = Math.min(asset.table?.rows ?? rows.length, rows.length)
  return json({ columns, rows: some, offset, next: end < rows.length ? end : null, total })
}

function firstWords(records: readonly LogRecord[]): string {
  for (const { event } of records) {
    const isText = event.type === 'NEW_MESSAGE' && typeof event.payload.content === 'string'
    if (isText) return String(event.payload.content).slice(0, 80)
  }
  return 'Conversation'
}

function json(value: unknown): Response {
  return new Response(JSON.stringify(value), { headers: { 'content-type': 'application/json' } })
}

function refused(status: number, code: string, message: string): Response {
  return new Response(JSON.stringify({ error: { code, message } }), { status })
}
