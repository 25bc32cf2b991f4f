import type { Context } from 'hono'
import type { ImportOptions } from '../../assets/assets-contract.ts'
import { failureOf } from '../error-response.ts'
import { namedFrame } from '../events/channel.ts'
import { type AnyAnswer, jsonAnswer } from '../pipeline.ts'

type OnProgress = NonNullable<ImportOptions['onProgress']>

/** Minimum time between two progress events, in milliseconds. */
const INTERVAL_MS = 200

/**
 * Answers with the result of long work. A client that accepts `text/event-stream` gets events `progress`, and at the end
 * `done` with the answer, or `error`. The work continues when the client disconnects.
 */
export async function withProgress<T extends object>(
  c: Context,
  status: number,
  work: (onProgress?: OnProgress) => Promise<T>,
): Promise<AnyAnswer> {
  if (!c.req.header('accept')?.includes('text/event-stream')) {
    return jsonAnswer(await work(), status)
  }
  c.header('content-type', 'text/event-stream')
  c.header('cache-control', 'no-cache, no-transform')
  let sentAt = 0
  let isClosed = false
  return c.body(
    new ReadableStream<Uint8Array>({
      cancel() {
        isClosed = true
      },
      async start(controller) {
        const send = (event: string, data: object): void => {
          if (!isClosed) controller.enqueue(namedFrame(event, data))
        }
        const onProgress: OnProgress = (progress) => {
          const now = Date.now()
          if (now - sentAt < INTERVAL_MS) return
          sentAt = now
          send('progress', progress)
        }
        try {
          send('done', await work(onProgress))
        } catch (error) {
          send('error', failureOf(error))
        }
        if (!isClosed) controller.close()
      },
    }),
  )
}
