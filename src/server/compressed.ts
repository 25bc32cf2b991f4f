import type { Context } from 'hono'
import { compress } from 'hono/compress'

/** Bytes below which compression costs more than it spares. */
export const WORTH_COMPRESSING = 1024

const gzip = compress({ threshold: WORTH_COMPRESSING })

/** The answer as the client takes it: compressed, unless it is too short (by its content-length), a range, or no text. */
export async function compressed(c: Context, answer: Response): Promise<Response> {
  if (c.req.header('accept-encoding') === undefined) return answer
  await gzip(c, async () => {
    if (c.res !== answer) c.res = answer
  })
  return c.res
}
