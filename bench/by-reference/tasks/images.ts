import { PNG } from 'pngjs'
import { z } from 'zod'
import type { Task } from '../play.ts'
import { found } from '../words.ts'

const STEPS = 10
/** An image of noise. */
function picture(seed: number): Uint8Array {
  const png = new PNG({ width: 256, height: 256 })
  for (let i = 0; i < png.data.length; i++) png.data[i] = (i * (seed * 7919 + 31)) >> 3
  return new Uint8Array(PNG.sync.write(png))
}
const DONE = 'I took ten pictures and published the last one.'

const TAKES = Array.from({ length: STEPS }, (_, i) => ({
  calls: [{ name: 'camera', arguments: { angle: i * 36 } }],
}))
const SAYS = [{ role: 'user', content: 'Take ten pictures, publish the best.' }]
const camera = {
  id: 'camera',
  description: 'Takes a picture',
  input: z.object({ angle: z.number() }),
}

/**
 * The model sees images, and passes one of them to another tool. By value, the application stores them under its own
 * ids.
 */
export const images: Task = {
  name: 'ten pictures',
  about: 'ten pictures by a tool, seen by the model, one passed on',
  byref() {
    let count = 0
    return {
      tools: [
        {
          ...camera,
          execute: () => ({ picture: picture(count++) }),
        },
        {
          id: 'publish',
          description: 'Publishes a picture',
          input: z.object({
            picture: z.string().meta({ asset_ref_acceptable: true, contentEncoding: 'base64' }),
          }),
          execute: () => ({ ok: true }),
        },
      ],
      says: SAYS,
      answers: [
        ...TAKES,
        (options) => ({
          calls: [
            { name: 'publish', arguments: { picture: found(options, /(asset:\/\/\w{20,})/) } },
          ],
        }),
        DONE,
      ],
    }
  },
  value() {
    let count = 0
    return {
      tools: [
        {
          ...camera,
          execute: () => ({ id: `picture-${count}`, bytes: picture(count++) }),
          toModelOutput: ({ id, bytes }: { id: string; bytes: Uint8Array }) => ({
            type: 'content',
            value: [
              { type: 'text', text: JSON.stringify({ id }) },
              {
                type: 'file',
                mediaType: 'image/png',
                data: { type: 'data', data: Buffer.from(bytes).toString('base64') },
              },
            ],
          }),
        },
        {
          id: 'publish',
          description: 'Publishes a picture',
          input: z.object({ id: z.string().describe('Id of the picture') }),
          execute: () => ({ ok: true }),
        },
      ],
      says: SAYS,
      answers: [...TAKES, { calls: [{ name: 'publish', arguments: { id: 'picture-9' } }] }, DONE],
    }
  },
}
