import { createAssets } from '../../src/assets/assets.ts'
import { capabilitiesOf } from '../../src/model/capabilities.ts'
import { noisePng } from '../../src/prompt/fixtures/bodies.ts'
import { createMediaCache } from '../../src/prompt/media/media-cache.ts'
import { resolveMedia } from '../../src/prompt/media/resolve-media.ts'
import { toPrompt } from '../../src/prompt/to-prompt.ts'
import type { TranscriptItem } from '../../src/prompt/transcript-item.ts'

/**
 * Ten images of 3 MB attached, ten steps: CPU time of making the prompts of steps 2 to 10, with and without the images.
 *
 *   node bench/agent/media-steps.ts
 */
const IMAGES = 10
const STEPS = 10
/** Steps are short: each is made so often, and the mean is taken. */
const REPEATS = 200
const ROUNDS = 8

const capabilities = await capabilitiesOf({
  provider: 'openai.responses',
  modelId: 'gpt-5',
  supportedUrls: {},
})
const assets = createAssets({})
const refs = await Promise.all(
  Array.from(
    { length: IMAGES },
    async (_, i) => (await assets.save(await noisePng(990 + i), 'image/png')).ref,
  ),
)
let reads = 0
const counted = {
  ...assets,
  get: (ref: string) => {
    reads++
    return assets.get(ref)
  },
} as typeof assets

/** Milliseconds of CPU of the first step, and of the mean step after it. */
async function measure(withImages: boolean): Promise<{ first: number; later: number }> {
  const source = { capabilities, assets: counted, namespace: null, cache: createMediaCache() }
  const items: TranscriptItem[] = [
    {
      type: 'user',
      parts: [
        { type: 'text', text: 'Compare them.' },
        ...(withImages ? refs : []).map((ref) => ({
          ...({ type: 'media', kind: 'image', mimeType: 'image/png', otherwise: 'note' } as const),
          ref,
        })),
      ],
    },
  ]
  const step = async (): Promise<void> => {
    toPrompt(await resolveMedia(items, source), { system: 'Be brief.', capabilities })
  }
  const first = await cpuOf(step)
  let later = 0
  for (let i = 1; i < STEPS; i++) {
    for (let k = 0; k < 20; k++) items.push(...stepItems(i * 20 + k))
    later +=
      (await cpuOf(async () => {
        for (let k = 0; k < REPEATS; k++) await step()
      })) / REPEATS
  }
  return { first, later: later / (STEPS - 1) }
}

function stepItems(n: number): TranscriptItem[] {
  const id = `call${n}`
  const output = {
    type: 'json' as const,
    value: { rows: Array.from({ length: 20 }, (_, i) => ({ i, n })) },
  }
  return [
    {
      type: 'assistant',
      parts: [{ type: 'text', text: `Step ${n}` }],
      calls: [{ id, name: 'look', arguments: { n } }],
    },
    {
      type: 'results',
      results: [{ toolCallId: id, toolName: 'look', isError: false, output, media: [] }],
    },
  ]
}

async function cpuOf(run: () => Promise<void>): Promise<number> {
  const before = process.cpuUsage()
  await run()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
}

/** In turn, so that neither finds the code warmer; the least of each counts. */
let bodyReads = 0
const images = { first: Infinity, later: Infinity }
const none = { first: Infinity, later: Infinity }
for (let round = 0; round < ROUNDS; round++) {
  for (const [least, withImages] of [[images, true] as const, [none, false] as const]) {
    reads = 0
    const { first, later } = await measure(withImages)
    if (withImages) bodyReads = reads
    least.first = Math.min(least.first, first)
    least.later = Math.min(least.later, later)
  }
}
const ms = (value: number): string => `${value.toFixed(3)} ms`
console.log(`${IMAGES} images of 3 MB, ${STEPS} steps; bodies read: ${bodyReads}`)
console.log(`first step: ${ms(images.first)} with them, ${ms(none.first)} without`)
console.log(`mean of steps 2-${STEPS}: ${ms(images.later)} with them, ${ms(none.later)} without`)
console.log(`ratio: ${(images.later / none.later).toFixed(2)}`)
