import { describe, expect, it } from 'vitest'
import { createAssets } from '../assets/create-assets.ts'
import { PNG } from '../assets/fixtures/stores.ts'
import { defineTool, type ToolContext } from '../boundary/tool.ts'
import { scriptedModel } from '../testing/scripted-model.ts'
import { createAgent } from './agent.ts'
import { prompts, say } from './fixtures/agent.ts'
import type { Processor } from './processors.ts'

const call = { calls: [{ name: 'work', arguments: {} }] }

function working(execute: (context: ToolContext) => unknown) {
  return defineTool({
    id: 'work',
    description: '',
    inputSchema: { type: 'object' },
    execute: (_, context) => execute(context),
  })
}

/** Assets with a structured one, whose meta has the word `harbour`. */
async function setUp() {
  const assets = createAssets()
  const saved = await assets.saveAsset({ content_type: 'places', content: { harbour: [1, 2, 3] } })
  return { assets, ref: saved.ref }
}

/** Saves an asset that no message names. */
function savesAtFirstStep(asset_id: string): Processor {
  let isSaved = false
  return {
    eventType: 'STEP_STARTED',
    async process(_, { context }) {
      if (isSaved) return undefined
      isSaved = true
      await context.assets.saveAsset({ asset_id, content_type: 'places', content: { harbour: 1 } })
      return undefined
    },
  }
}

describe('the description of an asset', () => {
  it('is added if a person names the asset without marks', async () => {
    const { assets, ref } = await setUp()
    const model = scriptedModel(['Read.'])
    await createAgent({ model, assets }).run({ messages: say(`Read ${ref}, please.`) }).result
    expect(prompts(model)[0]).toContain('harbour')
  })

  it('is added if a result names it in a text', async () => {
    const { assets, ref } = await setUp()
    const model = scriptedModel([call, 'Read.'])
    const tools = [
      working(async (context) => {
        const { ref: own } = await context.assets.saveAsset({
          content_type: 'x',
          content: { tide: 1 },
        })
        return `Written to ${own}. Its source is ${ref}.`
      }),
    ]
    await createAgent({ model, assets, tools }).run({ messages: say('Go') }).result
    expect(prompts(model)[1]).toContain('tide')
    // No message in this conversation names the source.
    expect(prompts(model)[1]).not.toContain('harbour')
  })

  it('is added if the model names it in its answer', async () => {
    const model = scriptedModel(['I shall read asset://pier.', 'Read.'])
    const agent = createAgent({ model, processors: [savesAtFirstStep('pier')] })
    const run = agent.run({ messages: say('Hello') })
    await run.result
    await agent.run({ conversation: run.conversation, messages: say('Do') }).result
    expect(prompts(model)[0]).not.toContain('harbour')
    expect(prompts(model)[1]).toContain('harbour')
  })

  it('is added after the call that saved it, even if its result does not name it', async () => {
    const model = scriptedModel([call, 'Saved.', 'Again.'])
    const tools = [
      working(async ({ assets }) => {
        await assets.saveAsset({ content_type: 'places', content: { harbour: 1 } })
        await assets.save(PNG, 'image/png', { name: 'pier.png' })
        return 'ok'
      }),
    ]
    const agent = createAgent({ model, tools })
    const run = agent.run({ messages: say('Go') })
    await run.result
    const [, second] = prompts(model)
    expect(second).toContain('harbour')
    expect(second).toMatch(
      /\[Saved image: asset_id=\\"[0-9a-z]{27}\\" name=\\"pier.png\\" type=\\"image\/png\\"\]/,
    )
    await agent.run({ conversation: run.conversation, messages: say('More') }).result
    // Earlier parts stay the same: the next prompt only grows.
    expect(prompts(model)[2]?.split('harbour').length).toBe(2)
  })

  it('has the description of a file that a person attaches or a tool saves', async () => {
    const assets = createAssets()
    const about = { name: 'pier.png', description: 'The old harbour' }
    const { ref } = await assets.save(PNG, 'image/png', about)
    const model = scriptedModel([call, 'Seen.'])
    const saves = (context: ToolContext) =>
      context.assets.save(Buffer.from('x'), 'text/plain', { description: 'Tide table' })
    const agent = createAgent({ model, assets, tools: [working(saves)] })
    const attachments = [{ assetRef: ref }]
    await agent.run({ messages: { role: 'user', content: 'Look', metadata: { attachments } } })
      .result
    const [first = '', second = ''] = prompts(model)
    expect(first).toContain('The old harbour')
    expect(second.split('The old harbour').length).toBe(2)
    expect(second).toContain('Tide table')
  })

  it.each([
    ['all', true],
    ['named', false],
  ] as const)(
    'of an asset that nobody names is there with `describeAssets: "%s"`: %s',
    async (describeAssets, isThere) => {
      const model = scriptedModel(['Hello', 'Again'])
      const agent = createAgent({
        model,
        describeAssets,
        processors: [savesAtFirstStep('pier')],
      })
      const run = agent.run({ messages: say('Hi') })
      await run.result
      await agent.run({ conversation: run.conversation, messages: say('Hi again') }).result
      expect((prompts(model)[1] ?? '').includes('harbour')).toBe(isThere)
    },
  )
})
