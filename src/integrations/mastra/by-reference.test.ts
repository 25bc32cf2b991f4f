import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Agent } from '@mastra/core/agent'
import { createTool } from '@mastra/core/tools'
import { createStep, createWorkflow } from '@mastra/core/workflows'
import { jsonSchema, tool as sdkTool } from 'ai'
import { afterAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { createAssets } from '../../assets/create-assets.ts'
import { testBoundary } from '../../testing/boundary.ts'
import type { ScriptedModel, ScriptedTurn } from '../../testing/scripted-model.ts'
import { scriptedModel } from '../../testing/scripted-model.ts'
import { byReference } from './by-reference.ts'
import { gaugeApp, PICTURE, PUBLISHING, ROWS, snapshotOf } from './fixtures/gauge-app.ts'

const folder = mkdtempSync(join(tmpdir(), 'byref-mastra-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const IMAGE = Buffer.from(PICTURE).toString('base64')
const CITIES = Array.from({ length: 5_000 }, (_, id) => ({ id, city: `city ${id}` }))

type Refs = ReturnType<typeof byReference>

let ids = 0
const calls = (...all: readonly (readonly [name: string, args: object])[]) => ({
  calls: all.map(([name, args]) => ({ id: `call-${++ids}`, name, arguments: args as never })),
})

/** The last results that a model saw, as JSON. */
function resultsIn({ requests }: Pick<ScriptedModel, 'requests'>): string[] {
  return (requests.at(-1)?.prompt ?? []).flatMap(({ role, content }) =>
    role === 'tool'
      ? content.flatMap((part) => (part.type === 'tool-result' ? JSON.stringify(part.output) : []))
      : [],
  )
}

function refIn(shown: string | undefined): string {
  const [ref] = /asset:\/\/[\w-]+/.exec(shown ?? '') ?? []
  if (!ref) throw new Error(`No reference is shown: ${shown?.slice(0, 200)}`)
  return ref
}

/** A turn that calls tools with the references that the model saw. */
const callingWith =
  (make: (refs: string[]) => ReturnType<typeof calls>): ScriptedTurn =>
  (request) =>
    make(resultsIn({ requests: [request] }).map((one) => /asset:\/\/[\w-]+/.exec(one)?.[0] ?? ''))

const isPicture = ({ bytes }: { bytes: Uint8Array }): boolean => Buffer.from(bytes).equals(PICTURE)

const picture = createTool({
  id: 'picture',
  description: 'Takes a picture',
  inputSchema: z.object({}),
  execute: async () => ({ image: PICTURE }),
})
const rows = createTool({
  id: 'rows',
  description: 'Reads rows',
  inputSchema: z.object({}),
  execute: async () => CITIES,
})

/** A tool that records its inputs. */
function noting(requireApproval?: (input: unknown) => boolean) {
  const given: unknown[] = []
  const note = createTool({
    id: 'note',
    description: 'Notes',
    inputSchema: z.object({
      text: z.string().default('nothing'),
      list: z.array(z.object({ id: z.number(), city: z.string() })).optional(),
    }),
    ...(requireApproval && { requireApproval: async (input: unknown) => requireApproval(input) }),
    async execute(input) {
      given.push(input)
      return 'noted'
    },
  })
  return { given, note }
}

/** Runs an agent with these tools until its model has played all turns. */
async function play(refs: Refs, tools: object, ...turns: readonly ScriptedTurn[]) {
  const model = scriptedModel([...turns, 'Done.'])
  const options = { id: 'a', name: 'A', instructions: 'Be brief.', model, tools: { ...tools } }
  const agent = new Agent(refs.agent(options))
  const result = await agent.generate('Go', { maxSteps: 20 })
  return { model, result, shown: resultsIn(model) }
}

/** A step that takes and returns any value. */
function anyStep(
  id: string,
  execute: (given: { inputData: z.infer<z.ZodAny> }) => Promise<unknown>,
) {
  return createStep({ id, inputSchema: z.any(), outputSchema: z.any(), execute })
}

const anyFlow = () => createWorkflow({ id: 'flow', inputSchema: z.any(), outputSchema: z.any() })

describe('byReference of Mastra', () => {
  testBoundary(
    async (plain) => {
      const assets = createAssets()
      const refs = byReference({ assets })
      const tools = Object.fromEntries(
        plain.map(({ name, parameters, run }) => [
          name,
          createTool({
            id: name,
            description: name,
            inputSchema: parameters as never,
            execute: async (input) => run(input as Record<string, unknown>),
          }),
        ]),
      )
      return {
        assets,
        async call(name, args) {
          const { shown } = await play(refs, tools, calls([name, args]))
          return shown.at(-1) ?? ''
        },
      }
    },
    it,
    { hasResults: false },
  )

  it('keeps bytes and long results out of the prompt and the result', async () => {
    const refs = byReference()
    const pictures = Array.from({ length: 10 }, () => calls(['picture', {}]))
    const { result, shown, model } = await play(
      refs,
      { picture, rows },
      ...pictures,
      calls(['rows', {}]),
    )
    expect(result.text).toBe('Done.')
    expect(JSON.stringify(model.requests.at(-1)?.prompt).length).toBeLessThan(6_000)
    expect(JSON.stringify(result.toolResults).length).toBeLessThan(10_000)
    expect(isPicture(await refs.assets.get(refIn(shown[4])))).toBe(true)
    expect(await refs.assets.resolve(`${refIn(shown[10])}/content`)).toEqual(CITIES)
  })

  // Mastra changes and checks schemas depending on the model's provider.
  it.each([
    ['scripted', 'm'],
    ['openai.responses', 'gpt-4o'],
    ['google.generative-ai', 'gemini-2.5-pro'],
    ['anthropic.messages', 'claude-3-5-haiku'],
  ])(
    'passes the values of references to tools of %s, whose schema checks them',
    async (provider, modelId) => {
      const { given, note } = noting()
      const model = scriptedModel([
        calls(['picture', {}], ['rows', {}]),
        callingWith(([image, list]) =>
          calls(
            ['note', { text: image, list: `${list}/content` }],
            ['note', { list: `${list}/content` }],
            ['note', { text: 'x', list: image }],
            ['note', { text: 1 }],
            ['note', { text: 'asset: no reference', list: 1 }],
          ),
        ),
        'Done.',
      ])
      const named = { ...model, provider, modelId }
      const tools = { picture, rows, note }
      const options = { id: 'a', name: 'A', instructions: 'Be brief.', model: named, tools }
      await new Agent(byReference().agent(options)).generate('Go', { maxSteps: 5 })
      const shown = resultsIn(model)
      expect(given).toEqual([
        { text: IMAGE, list: CITIES },
        { text: 'nothing', list: CITIES },
      ])
      expect(shown[2]).toMatch(/noted/)
      expect(shown[4]).toMatch(/cannot be converted to array/)
      expect(shown[5]).toMatch(/Tool input validation failed/)
      expect(shown[6]).toMatch(/Tool input validation failed/)
    },
  )

  it('passes bytes to parameters that require them, and base64 to those without a type', async () => {
    const given: unknown[] = []
    const show = createTool({
      id: 'show',
      description: '',
      inputSchema: z.object({
        image: z.instanceof(Uint8Array),
        any: z.any(),
        at: z.coerce.date(),
        to: z.coerce.bigint(),
      }),
      async execute({ image, any, at, to }) {
        given.push(
          image instanceof Uint8Array && isPicture({ bytes: image }),
          any === IMAGE,
          at,
          to,
        )
      },
    })
    const refs = byReference()
    const [at, to] = await Promise.all(
      ['2026-01-02', '5'].map(
        async (text) => (await refs.assets.save(Buffer.from(text), 'text/plain')).ref,
      ),
    )
    await play(
      refs,
      { picture, show },
      calls(['picture', {}]),
      callingWith(([image]) => calls(['show', { image, any: image, at, to }])),
    )
    expect(given).toEqual([true, true, new Date('2026-01-02'), 5n])
  })

  it('passes on inputs that a schema has made into values without a JSON form', async () => {
    const given: unknown[] = []
    const count = createTool({
      id: 'count',
      description: '',
      inputSchema: z.object({ to: z.coerce.bigint() }),
      async execute({ to }) {
        given.push(to)
      },
    })
    await play(byReference(), { count }, calls(['count', { to: '12' }]))
    expect(given).toEqual([12n])
  })

  it('shows the parameters with references, and explains them', async () => {
    const { note } = noting()
    const { model } = await play(byReference(), { note })
    const [request] = model.requests
    expect(JSON.stringify(request?.prompt)).toMatch(/Be brief\.\\n\\n## References\\nasset:/)
    const names = request?.tools?.map(({ name }) => name)
    expect(names).toEqual(expect.arrayContaining(['note', 'fetch_asset', 'search_asset']))
    expect(names).not.toContain('edit_asset')
    expect(JSON.stringify(request?.tools?.find(({ name }) => name === 'note'))).toMatch(
      /"list":\{"type":\["array","string"\].*\(or asset:/,
    )
  })

  it('does not change small results and tools of the AI SDK', async () => {
    const small = createTool({
      id: 'small',
      description: '',
      inputSchema: z.object({}),
      execute: async () => ({ city: 'Bonn' }),
      toModelOutput: (output) => ({ type: 'text', value: `In ${Object(output).city}` }),
    })
    const drawn = createTool({
      id: 'drawn',
      description: '',
      inputSchema: z.object({}),
      execute: async () => ({ image: PICTURE }),
      toModelOutput: (output) => ({ type: 'text', value: `${Object(output).image.length}` }),
    })
    const screen = createTool({
      id: 'screen',
      description: '',
      inputSchema: z.object({}),
      execute: async () => ({ text: '\u001b[1mC:\\users' }),
      toModelOutput: (output) => ({ type: 'text', value: `${Object(output).text.length}` }),
    })
    const plain = sdkTool({ inputSchema: jsonSchema({ type: 'object' }), execute: () => 'plain' })
    expect(byReference().tools({ plain }).plain).toBe(plain)
    const turn = calls(['small', {}], ['drawn', {}], ['screen', {}])
    const { shown } = await play(byReference(), { small, drawn, screen }, turn)
    expect(shown[0]).toBe('{"type":"text","value":"In Bonn"}')
    expect(shown[2]).toBe('{"type":"text","value":"12"}')
    expect(shown[1]).toMatch(/"assetRef":"asset:/)
  })

  it.each(['requireApproval', 'needsApprovalFn'])(
    'lets %s see values, and asks about references that it cannot read',
    async (rule) => {
      const judged: unknown[] = []
      const judge = (input: unknown): boolean => {
        judged.push(input)
        return false
      }
      const { given, note } = noting(rule === 'requireApproval' ? judge : undefined)
      if (rule === 'needsApprovalFn') note.needsApprovalFn = judge
      const refs = byReference()
      const { ref } = await refs.assets.save(Buffer.from('short'), 'text/plain')
      const model = scriptedModel([
        calls(['note', { text: ref }], ['note', { text: 'asset://no' }]),
      ])
      const options = { id: 'a', name: 'A', instructions: '', model, tools: { note } }
      const stream = await new Agent(refs.agent(options)).stream('Go')
      const asked: unknown[] = []
      for await (const chunk of stream.fullStream) {
        if (chunk.type === 'tool-call-approval') asked.push(chunk.payload.args)
      }
      expect(judged).toEqual([{ text: 'short' }])
      expect(given).toEqual([{ text: 'short' }])
      expect(asked).toEqual([{ text: 'asset://no' }])
    },
  )

  it('reads long results by pages, and shows no bytes', async () => {
    const { shown } = await play(
      byReference(),
      { picture, rows },
      calls(['rows', {}], ['picture', {}]),
      callingWith(([list, image]) =>
        calls(
          ['fetch_asset', { ref: list, startLine: 4_000, endLine: 4_004 }],
          ['search_asset', { ref: list, query: 'city 4321' }],
          ['fetch_asset', { ref: image }],
        ),
      ),
    )
    expect(shown[2]).toMatch(/"startLine":4000/)
    expect(shown[3]).toMatch(/city 4321/)
    expect(shown[4]).toMatch(/is not text/)
  })

  it('accepts instructions that are a message', async () => {
    const model = scriptedModel(['Done.'])
    const instructions = { role: 'system' as const, content: 'One.' }
    const options = { id: 'a', name: 'A', instructions, model }
    await new Agent(byReference().agent(options)).generate('Go')
    expect(model.requests[0]?.prompt.slice(0, 2)).toMatchObject([
      { role: 'system', content: 'One.' },
      { role: 'system', content: expect.stringMatching(/^## References/) },
    ])
  })

  it('accepts tools and instructions that depend on the request', async () => {
    const model = scriptedModel([calls(['picture', {}]), 'Done.'])
    const agent = new Agent(
      byReference().agent({
        id: 'a',
        name: 'A',
        instructions: async () => ['One.', 'Two.'],
        model,
        tools: async () => ({ picture }),
      }),
    )
    await agent.generate('Go', { maxSteps: 3 })
    expect(resultsIn(model)[0]).toMatch(/"assetRef":"asset:/)
    expect(JSON.stringify(model.requests[0]?.prompt)).toMatch(/One\..*Two\..*## References/)
  })

  it('streams references, stores them in memory, and lets a person decide in another process', async () => {
    const first = gaugeApp(folder, PUBLISHING)
    const memory = { thread: 'thread', resource: 'user' }
    const stream = await first.mastra.getAgent('gauge').stream('Publish a photo', { memory })
    const chunks: string[] = []
    for await (const chunk of stream.fullStream) chunks.push(JSON.stringify(chunk))
    expect(chunks.some((chunk) => chunk.includes('tool-call-approval'))).toBe(true)
    expect(chunks.join('').length).toBeLessThan(20_000)
    const snapshot = await snapshotOf(first, 'agentic-loop', stream.runId)
    expect(JSON.stringify(snapshot).length).toBeLessThan(50_000)

    const second = gaugeApp(folder, ['Published.'])
    const agent = second.mastra.getAgent('gauge')
    const resumed = await agent.approveToolCall({ runId: stream.runId, toolCallId: 'c2' })
    expect(await resumed.text).toBe('Published.')
    expect(second.published).toEqual([IMAGE])
    const recalled = await (await agent.getMemory())?.recall({
      threadId: 'thread',
      resourceId: 'user',
    })
    const stored = JSON.stringify(recalled?.messages)
    expect(stored).toMatch(/"assetRef":"asset:/)
    expect(stored.length).toBeLessThan(10_000)
  })

  it('continues agents and workflows after a kill', async () => {
    const script = fileURLToPath(new URL('./fixtures/suspend-and-wait.ts', import.meta.url))
    const own = mkdtempSync(join(folder, 'killed-'))
    const child = spawn(process.execPath, ['--conditions=byref-source', script, own], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const [said] = await once(child.stdout, 'data')
    child.kill('SIGKILL')
    await once(child, 'exit')
    const ids: { agent: string; workflow: string; status: string } = JSON.parse(String(said))
    expect(ids.status).toBe('suspended')

    const app = gaugeApp(own, ['Published.'])
    const snapshot = await snapshotOf(app, 'publishing', ids.workflow)
    expect(JSON.stringify(snapshot).length).toBeLessThan(20_000)
    const run = await app.mastra.getWorkflow('publishing').createRun({ runId: ids.workflow })
    const result = await run.resume({ step: 'send', resumeData: { approved: true } })
    expect(result).toMatchObject({
      status: 'success',
      result: { bytes: PICTURE.length, rows: ROWS.length },
    })

    const call = { runId: ids.agent, toolCallId: 'c2' }
    const resumed = await app.mastra.getAgent('gauge').approveToolCall(call)
    expect(await resumed.text).toBe('Published.')
    expect(app.published).toEqual([IMAGE])
  })

  it('passes values of any size to steps, and checks them', async () => {
    const refs = byReference()
    const given: unknown[] = []
    const text = z.object({ text: z.string() })
    const make = createStep({
      id: 'make',
      inputSchema: text,
      outputSchema: z.object({ rows: z.array(z.object({ id: z.number(), city: z.string() })) }),
      execute: async () => ({ rows: CITIES }),
    })
    const count = createStep({
      id: 'count',
      inputSchema: z.object({ rows: z.array(z.object({ id: z.number(), city: z.string() })) }),
      outputSchema: z.object({ count: z.number() }),
      async execute({ inputData }) {
        given.push(inputData)
        return { count: inputData.rows.length }
      },
    })
    const flow = createWorkflow({
      id: 'flow',
      inputSchema: text,
      outputSchema: z.object({ count: z.number() }),
    })
      .then(refs.step(make))
      .then(refs.step(count))
      .commit()
    const result = await (await flow.createRun()).start({ inputData: { text: 'x' } })
    expect(result).toMatchObject({ status: 'success', result: { count: CITIES.length } })
    expect(given).toEqual([{ rows: CITIES }])
    expect(JSON.stringify(result.steps).length).toBeLessThan(20_000)

    const short = createStep({
      id: 'short',
      inputSchema: z.object({ text: z.string().max(3) }),
      outputSchema: text,
      execute: async ({ inputData }) => inputData,
    })
    const narrow = createWorkflow({ id: 'narrow', inputSchema: text, outputSchema: text })
      .then(refs.step(short))
      .commit()
    const wrong = await (await narrow.createRun()).start({ inputData: { text: 'asset: too long' } })
    expect(wrong).toMatchObject({
      status: 'failed',
      error: {
        message: expect.stringMatching(
          /with the values of its references, is invalid: \/text: Too big/,
        ),
      },
    })
  })

  it('passes to steps exactly what earlier steps returned, also in parallel', async () => {
    const refs = byReference()
    const values = {
      image: { mimeType: 'image/png', data: IMAGE },
      bytes: [PICTURE.subarray(0, 9)],
      list: [{ text: 'asset://no-reference', rows: CITIES }],
      small: { city: 'Bonn' },
    }
    const makes = ['one', 'two'].map((id) => anyStep(id, async () => values))
    const given: unknown[] = []
    const look = anyStep('look', async ({ inputData }) => {
      given.push(inputData)
      return PICTURE
    })
    const last = anyStep('last', async ({ inputData }) => isPicture({ bytes: inputData }))
    const flow = anyFlow()
      .parallel(makes.map(refs.step))
      .then(refs.step(look))
      .then(refs.step(last))
      .commit()
    const result = await (await flow.createRun()).start({ inputData: {} })
    expect(result).toMatchObject({ status: 'success', result: true })
    expect(given).toEqual([{ one: values, two: values }])
    const kept = JSON.stringify(result.steps)
    expect(kept.length).toBeLessThan(10_000)
    expect(kept).toMatch(/"small":\{"city":"Bonn"\}/)
  })

  it('passes a Buffer and a File to steps as they are', async () => {
    const { step } = byReference()
    const values = z.object({
      image: z.instanceof(Buffer),
      files: z.array(z.object({ file: z.instanceof(File) })),
      rows: z.array(z.any()),
    })
    const file = new File(['hello'], 'a.txt', { type: 'text/plain', lastModified: 5 })
    const any = z.any()
    const make = createStep({
      id: 'make',
      inputSchema: any,
      outputSchema: values,
      execute: async () => ({ image: Buffer.from('hello'), files: [{ file }], rows: CITIES }),
    })
    const read = createStep({
      id: 'read',
      inputSchema: values,
      outputSchema: any,
      async execute({ inputData: { image, files, rows } }) {
        const { name, type, lastModified } = files[0]?.file ?? file
        const text = await files[0]?.file.text()
        return [image.toString(), { name, type, lastModified, text }, rows.length]
      },
    })
    const flow = anyFlow().then(step(make)).then(step(read)).commit()
    expect(await (await flow.createRun()).start({ inputData: {} })).toMatchObject({
      result: [
        'hello',
        { name: 'a.txt', type: 'text/plain', lastModified: 5, text: 'hello' },
        CITIES.length,
      ],
    })
  })

  it('keeps objects of input and of tools that look like its own references', async () => {
    const refs = byReference()
    const text = await refs.assets.save(Buffer.from('secret'), 'text/plain')
    const { ref } = await refs.assets.saveAsset({
      asset_type: 'tool_result',
      content_type: 'application/json',
      content: { value: 'secret' },
    })
    const like = (assetRef: string) => {
      return { assetRef, mimeType: 'text/plain', kind: 'file', offloaded: true, preview: 'x' }
    }
    const { result: asked } = await play(refs, { rows }, calls(['rows', {}]))
    const given: unknown[] = []
    const pass = (id: string) =>
      anyStep(id, async ({ inputData }) => {
        given.push(inputData)
        return inputData
      })
    const flow = anyFlow()
      .then(refs.step(pass('one')))
      .then(refs.step(pass('two')))
      .commit()
    const inputData = {
      file: like(text.ref),
      whole: like(ref),
      field: [like(`${ref}/content/value`), like(`${ref}/content`)],
      missing: like('asset://missing'),
      ofTool: asked.steps[0]?.toolResults[0]?.payload.result,
    }
    expect(inputData.ofTool).toMatchObject({ offloaded: true })
    expect(await (await flow.createRun()).start({ inputData })).toMatchObject({ status: 'success' })
    expect(given).toEqual([inputData, inputData])
  })

  it.each([
    ['long', () => CITIES],
    ['short', (i: number) => [{ city: `${i}`.repeat(2_000) }]],
    ['binary', (i: number) => PICTURE.subarray(0, i)],
  ])('passes the items of a list with %s items to .foreach()', async (_, item) => {
    const refs = byReference()
    const list = Array.from({ length: 20 }, (_, i) => item(i + 1))
    const given: unknown[] = []
    const make = anyStep('make', async () => list)
    const look = anyStep('look', async ({ inputData }) => {
      given.push(inputData)
      return inputData
    })
    const flow = anyFlow().then(refs.step(make)).foreach(refs.step(look)).commit()
    const result = await (await flow.createRun()).start({ inputData: {} })
    expect(result.status).toBe('success')
    expect(given).toEqual(list)
    expect(JSON.stringify(result.steps.make).length).toBeLessThan(10_000)
  })

  it('stores a value of many small fields as a whole', async () => {
    const refs = byReference({ maxResultChars: 1_000 })
    const many = Object.fromEntries(Array.from({ length: 2_000 }, (_, i) => [`field${i}`, i]))
    const make = anyStep('m', async () => many)
    const give = anyStep('g', async ({ inputData }) => Object.keys(inputData).length)
    const flow = anyFlow().then(refs.step(make)).then(refs.step(give)).commit()
    const result = await (await flow.createRun()).start({ inputData: {} })
    expect(result).toMatchObject({ status: 'success', result: 2_000 })
    expect(JSON.stringify(result.steps.m).length).toBeLessThan(6_000)
  })

  it('wraps steps that are made from tools', async () => {
    const refs = byReference()
    const drawn = createTool({
      id: 'drawn',
      description: '',
      inputSchema: z.object({}),
      outputSchema: z.object({ image: z.string() }),
      execute: async () => ({ image: IMAGE }),
    })
    const size = createTool({
      id: 'size',
      description: '',
      inputSchema: drawn.outputSchema,
      outputSchema: z.object({ length: z.number() }),
      execute: async ({ image }) => ({ length: image.length }),
    })
    const any = z.any()
    const flow = createWorkflow({ id: 'flow', inputSchema: z.object({}), outputSchema: any })
      .then(refs.step(createStep(drawn as never)) as never)
      .then(refs.step(createStep(size as never)) as never)
      .commit()
    const result = await (await flow.createRun()).start({ inputData: {} })
    expect(result).toMatchObject({ status: 'success', result: { length: IMAGE.length } })
    expect(JSON.stringify(result.steps).length).toBeLessThan(1_000)
  })

  it('cuts long errors of tools', async () => {
    const loud = createTool({
      id: 'loud',
      description: 'Fails',
      inputSchema: z.object({}),
      execute: async () => Promise.reject(new Error('x'.repeat(200_000))),
    })
    const { model } = await play(byReference(), { loud }, calls(['loud', {}]))
    expect(JSON.stringify(model.requests.at(-1)?.prompt).length).toBeLessThan(20_000)
  })

  it('keeps the assets of namespaces apart', async () => {
    const refs = byReference()
    const { shown } = await play(refs.scoped('ann'), { picture }, calls(['picture', {}]))
    const ref = refIn(shown[0])
    expect(isPicture(await refs.scoped('ann').assets.get(ref))).toBe(true)
    await expect(refs.scoped('bob').assets.get(ref)).rejects.toMatchObject({
      code: 'asset_not_found',
    })
  })

  it('prefers a tool of the agent to a reading tool of the same name', () => {
    const own = createTool({ id: 'fetch_asset', description: 'mine' })
    const options = { id: 'a', name: 'A', instructions: '', model: scriptedModel([]) }
    const { tools } = byReference({ editing: true }).agent({
      ...options,
      tools: { fetch_asset: own },
    })
    expect(tools.fetch_asset.description).toBe('mine')
    expect(Object.keys(tools)).toContain('edit_asset')
  })

  it('rejects options that it does not have, such as trust', () => {
    expect(() => byReference({ trust: 'track' } as never)).toThrow(/Unknown option "trust"/)
    const agent = new Agent({ id: 'a', name: 'A', instructions: '', model: scriptedModel([]) })
    expect(() => byReference().agent(agent as never)).toThrow(/must be the options of an Agent/)
  })
})
