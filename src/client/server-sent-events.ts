import { LineSplitter } from '../core/line-splitter.ts'

/** A server-sent event. `id` and `event` are absent if the stream has none. */
export interface ServerSentEvent {
  id?: string
  event?: string
  data: string
}

/**
 * Reads server-sent events from bytes, as https://html.spec.whatwg.org/multipage/server-sent-events.html parses them:
 * any of the three line ends, no comments, joined `data` lines, and no incomplete event. `onBytes` is called for every
 * chunk, also of comments, to show that the connection is alive.
 */
export async function* readEventStream(
  body: ReadableStream<Uint8Array>,
  onBytes: () => void = () => {},
): AsyncGenerator<ServerSentEvent, void, void> {
  const parser = createParser()
  const decoder = new TextDecoder()
  const reader = body.getReader()
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      onBytes()
      yield* parser(decoder.decode(value, { stream: true }))
    }
  } finally {
    await reader.cancel().catch(() => {})
  }
}

/** Returns a function that takes the next piece of text and returns the events that it completes. */
function createParser(): (text: string) => ServerSentEvent[] {
  const lines = new LineSplitter()
  let endedInCarriageReturn = false
  let event: Partial<ServerSentEvent> = {}

  return (text) => {
    const found: ServerSentEvent[] = []
    // A line feed belongs to the carriage return at the end of the last piece.
    const chunk = endedInCarriageReturn && text.startsWith('\n') ? text.slice(1) : text
    if (text !== '') endedInCarriageReturn = text.endsWith('\r')
    for (const line of lines.push(chunk.replace(/\r\n?/g, '\n'))) {
      if (line !== '') {
        event = withField(event, line)
        continue
      }
      if (event.data !== undefined) found.push({ ...event, data: event.data })
      event = {}
    }
    return found
  }
}

function withField(event: Partial<ServerSentEvent>, line: string): Partial<ServerSentEvent> {
  const colon = line.indexOf(':')
  const field = colon < 0 ? line : line.slice(0, colon)
  const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '')
  if (field === 'data') {
    return { ...event, data: event.data === undefined ? value : `${event.data}\n${value}` }
  }
  if (field === 'id' || field === 'event') return { ...event, [field]: value }
  return event
}
