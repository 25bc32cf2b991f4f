const HEARTBEAT_MS = 15_000

/** How to turn events into server-sent events. */
export interface EventStreamOptions<Event> {
  /** @param index Starts at 0. */
  frame(event: Event, index: number): string
  /** Returns the last event of a stream that failed. */
  failed(error: unknown): Event
  /** A frame after the last event. */
  last?: string
  /** Called when the stream ends. `isCut`: the client disconnected before the end. */
  onEnd(isCut: boolean): void
}

/** Answers with server-sent events. Comments between them keep proxies from closing the connection. */
export function eventStream<Event>(
  events: AsyncIterable<Event>,
  options: EventStreamOptions<Event>,
): Response {
  const { onEnd } = options
  const encoder = new TextEncoder()
  const frames = framesOf(events, options)
  let beat: NodeJS.Timeout
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      beat = setInterval(() => controller.enqueue(encoder.encode(':\n\n')), HEARTBEAT_MS)
      beat.unref()
    },
    async pull(controller) {
      const { value, done } = await frames.next()
      if (!done) return controller.enqueue(encoder.encode(value))
      clearInterval(beat)
      onEnd(false)
      controller.close()
    },
    cancel() {
      clearInterval(beat)
      onEnd(true)
    },
  })
  return new Response(body, {
    headers: { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' },
  })
}

async function* framesOf<Event>(
  events: AsyncIterable<Event>,
  { frame, failed, last }: EventStreamOptions<Event>,
): AsyncGenerator<string> {
  let index = 0
  try {
    for await (const event of events) yield frame(event, index++)
  } catch (error) {
    yield frame(failed(error), index)
  }
  if (last !== undefined) yield last
}
