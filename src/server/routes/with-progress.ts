import type { Context } from 'hono'
import type { ImportOptions } from '../../assets/assets-contract.ts'
import { failureOf } from '../error-response.ts'
import { namedFrame } from '../events/channel.ts'
import { type AnyAnswer, jsonAnswer } from '../json-answer.ts'

type OnProgress = NonNullable<ImportOptions['onProgress']>

/** How often progress is told, in milliseconds. */
const EVERY_MS = 200

/**
 * Answers with what a long work comes to. Who accepts `text/event-stream` is told how far it is: events `progress`, and in the
 * end `done` with the answer or `error`. Who goes away is told no more; the work goes on.
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
  let told = 0
  let isGone = false
  return c.body(
    new ReadableStream<Uint8Array>({
      cancel() {
        isGone = true
      },
      async start(controller) {
        const tell = (event: string, data: object): void => {
          if (!isGone) controller.enqueue(namedFrame(event, data))
        }
        const onProgress: OnProgress = (progress) => {
          const now = Date.now()
          if (now - told < EVERY_MS) return
          told = now
          tell('progress', progress)
        }
        try {
          tell('done', await work(onProgress))
        } catch (error) {
          tell('error', failureOf(error))
        }
        if (!isGone) controller.close()
      },
    }),
  )
}
