const HEARTBEAT_MS = 15_000

/**
 * Server-sent events of these frames; comments in between keep proxies from hanging up.
 *
 * @param onEnd Told once; `isCut` where the client hung up before the end.
 */
export function eventStream(
  frames: AsyncGenerator<string>,
  onEnd: (isCut: boolean) => void,
): Response {
  const encoder = new TextEncoder()
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
