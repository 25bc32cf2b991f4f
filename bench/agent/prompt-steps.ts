// What images and assets add to a step: an agent with ten steps, with nothing, with ten images of 3 MB, with 200
// assets.
// node --expose-gc bench/agent/prompt-steps.ts
import { randomBytes } from 'node:crypto'
import sharp from 'sharp'
import { type Assets, createAgent, createAssets, defineTool } from '../../src/index.ts'
import { scriptedModel } from '../../src/testing/scripted-model.ts'
import { printMachine } from '../content/measure.ts'

const STEPS = 40
const ROUNDS = 40

const tool = defineTool({
  id: 'step',
  description: 'Does a step',
  inputSchema: { type: 'object', properties: {} },
  execute: () => ({ ok: true }),
})

/** An image of noise of about 3 MB, small enough to be sent unchanged. */
async function picture(): Promise<Uint8Array> {
  const side = 1000
  const raw = { width: side, height: side, channels: 3 } as const
  return sharp(randomBytes(side * side * 3), { raw })
    .png({ compressionLevel: 0 })
    .toBuffer()
}

const pictures = await Promise.all(Array.from({ length: 10 }, picture))

/** A conversation with attachments. The reads of bodies are counted. */
async function setup(attach: (assets: Assets) => Promise<string[]>) {
  const assets = createAssets()
  const refs = await attach(assets)
  const reads = { count: 0 }
  const counting: Assets = Object.assign(Object.create(assets) as Assets, {
    get: (...args: Parameters<Assets['get']>) => {
      reads.count++
      return assets.get(...args)
    },
    open: (...args: Parameters<Assets['open']>) => {
      reads.count++
      return assets.open(...args)
    },
  })
  return { assets: Object.assign(counting, { config: assets.config }), refs, reads }
}

const cases = {
  nothing: await setup(async () => []),
  'ten pictures of 3 MB': await setup((assets) =>
    Promise.all(pictures.map(async (bytes) => (await assets.save(bytes, 'image/png')).ref)),
  ),
  '200 assets': await setup((assets) =>
    Promise.all(
      Array.from({ length: 200 }, async (_, i) => {
        const content = { name: `asset ${i}`, rows: [{ a: i, b: 'x' }] }
        return (await assets.saveAsset({ content_type: 'data', content })).ref
      }),
    ),
  ),
}

/** CPU time of the steps after the first, in µs for each. */
async function run({ assets, refs }: (typeof cases)['nothing']): Promise<number> {
  let started = 0
  const call = { calls: [{ name: 'step', arguments: {} }] }
  let steps = 0
  const turn = () => {
    if (steps++ === 1) {
      // Garbage of the first step must not count for later ones.
      globalThis.gc?.()
      started = cpu()
    }
    return call
  }
  const model = Object.assign(
    scriptedModel([...Array.from({ length: STEPS }, () => turn), 'Done.']),
    {
      provider: 'openai.responses',
      modelId: 'gpt-5',
    },
  )
  const agent = createAgent({ model, tools: [tool], assets, limits: { steps: 100 } })
  const attachments = refs.map((assetRef) => ({ assetRef }))
  await agent.run({ messages: [{ role: 'user', content: 'Go', metadata: { attachments } }] }).result
  const used = cpu() - started
  await agent.close()
  return used / STEPS
}

function cpu(): number {
  const { user, system } = process.cpuUsage()
  return user + system
}

printMachine('What pictures and assets add to a step')
const times = new Map<string, number[]>()
for (let round = -3; round < ROUNDS; round++) {
  for (const [name, one] of Object.entries(cases)) {
    globalThis.gc?.()
    const before = one.reads.count
    const time = await run(one)
    if (round >= 0) times.set(name, [...(times.get(name) ?? []), time])
    else if (round === -3)
      console.log(`${name}: ${one.reads.count - before} bodies read in ${STEPS + 1} steps`)
  }
}
const median = (list: number[]): number =>
  list.toSorted((a, b) => a - b)[list.length >> 1] as number
const base = median(times.get('nothing') as number[])
console.log(
  `\nµs of CPU per step after the first, median of ${ROUNDS} runs of ${STEPS} steps (10th to 90th percentile), × beside nothing`,
)
for (const [name, list] of times) {
  const sorted = list.toSorted((a, b) => a - b)
  const [low, high] = [sorted[Math.floor(list.length * 0.1)], sorted[Math.floor(list.length * 0.9)]]
  console.log(
    `${name}: ${median(list).toFixed(0)} (${low?.toFixed(0)}–${high?.toFixed(0)}), ${(median(list) / base).toFixed(2)}×`,
  )
}
