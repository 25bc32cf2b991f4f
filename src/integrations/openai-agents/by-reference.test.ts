import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import {
  Agent,
  type MCPServer,
  MemorySession,
  type Model,
  Runner,
  RunState,
  run,
  type Tool,
  tool,
} from '@openai/agents'
import {
  assistantMessage,
  functionCall,
  modelResponder,
  modelResponse,
  type RecordedModelCall,
  ScriptedModel,
} from '@openai/agents/testing'
import { afterAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { createAssets } from '../../assets/create-assets.ts'
import { testBoundary } from '../../testing/boundary.ts'
import { byReference } from './by-reference.ts'
import { gaugeAgent, PICTURE } from './fixtures/gauge-agent.ts'

const folder = mkdtempSync(join(tmpdir(), 'byref-openai-agents-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const IMAGE = Buffer.from(PICTURE).toString('base64')
const ROW = z.object({ id: z.number(), city: z.string() })
const ROWS = Array.from({ length: 5_000 }, (_, id) => ({ id, city: `city ${id}` }))

type Call = readonly [name: string, args: Record<string, unknown>]

let ids = 0
const callsOf = (calls: readonly Call[]) =>
  calls.map(([name, args]) => functionCall(name, args, { callId: `call-${++ids}` }))

/** A model that makes these calls, each list in one answer, and then says that it is done. */
function calling(...steps: readonly ((shown: string[]) => readonly Call[])[]): ScriptedModel {
  return new ScriptedModel([
    ...steps.map((step) => modelResponder((call) => callsOf(step(resultsIn(call))))),
    modelResponse([assistantMessage('Done.')]),
  ])
}

/** The results in a request, as text. */
function resultsIn({ request }: RecordedModelCall): string[] {
  const items = typeof request.input === 'string' ? [] : request.input
  return items.flatMap((item) =>
    item.type === 'function_call_result'
      ? [typeof item.output === 'string' ? item.output : textOf(item.output)]
      : [],
  )
}

const textOf = (output: object): string =>
  'text' in output ? String(output.text) : JSON.stringify(output)

function refIn(shown: string | undefined): string {
  const [ref] = /asset:\/\/[\w-]+/.exec(shown ?? '') ?? []
  if (!ref) throw new Error(`No reference is shown: ${shown?.slice(0, 200)}`)
  return ref
}

const isPicture = ({ bytes }: { bytes: Uint8Array }): boolean => Buffer.from(bytes).equals(PICTURE)

const lastResults = (model: ScriptedModel): string[] => {
  const last = model.lastCall
  if (!last) throw new Error('The model was not called')
  return resultsIn(last)
}

const picture = tool({
  name: 'picture',
  description: 'Takes a picture',
  parameters: z.object({}),
  execute: () => ({ image: PICTURE }),
})
const rows = tool({
  name: 'rows',
  description: 'Reads rows',
  parameters: z.object({}),
  execute: () => ROWS,
})

/** A tool that records its inputs. */
function noting(needsApproval: boolean | ((input: unknown) => boolean) = false) {
  const given: unknown[] = []
  const note = tool({
    name: 'note',
    description: 'Notes',
    parameters: z.object({ text: z.string(), list: z.array(ROW) }),
    needsApproval:
      typeof needsApproval === 'boolean'
        ? needsApproval
        : async (_context, input) => needsApproval(input),
    execute(input) {
      given.push(input)
      return 'noted'
    },
  })
  return { given, note }
}

const agentWith = (model: Model, ...tools: Tool[]) =>
  new Agent({ name: 'Gauge', instructions: 'Be brief.', model, tools })

describe('byReference of OpenAI Agents', () => {
  testBoundary(
    async (plain) => {
      const assets = createAssets()
      const refs = byReference({ assets })
      const tools = plain.map(({ name, parameters, run: execute }) =>
        tool({
          name,
          description: name,
          strict: false,
          parameters: { required: [], additionalProperties: true, ...parameters } as never,
          execute: (input) => execute(input as Record<string, unknown>),
        }),
      )
      const session = new MemorySession()
      return {
        assets,
        async call(name, args) {
          const model = calling(() => [[name, args]])
          await run(refs.agent(agentWith(model, ...tools)), 'Go', { session })
          return lastResults(model).at(-1) ?? ''
        },
      }
    },
    it,
    { hasResults: false },
  )

  it('keeps bytes and long results out of the model, the session and the state', async () => {
    const refs = byReference()
    const session = new MemorySession()
    const model = calling(
      ...Array.from({ length: 10 }, () => (): Call[] => [['picture', {}]]),
      () => [['rows', {}]],
    )
    const result = await run(refs.agent(agentWith(model, picture, rows)), 'Go', {
      session,
      maxTurns: 20,
    })
    const request = model.lastCall?.request
    expect(JSON.stringify(request?.input).length).toBeLessThan(6_000)
    expect(JSON.stringify(await session.getItems()).length).toBeLessThan(8_000)
    expect(result.state.toString().length).toBeLessThan(50_000)
    const shown = lastResults(model)
    expect(shown).toHaveLength(11)
    expect(isPicture(await refs.assets.get(refIn(shown[3])))).toBe(true)
    expect(await refs.assets.resolve(`${refIn(shown[10])}/content`)).toEqual(ROWS)
  })

  it('passes the values of references to tools, whose schema checks them', async () => {
    const { given, note } = noting()
    const model = calling(
      () => [
        ['picture', {}],
        ['rows', {}],
      ],
      ([image, list]) => [
        ['note', { text: refIn(image), list: `${refIn(list)}/content` }],
        ['note', { text: 'x', list: refIn(image) }],
      ],
    )
    const result = await run(byReference().agent(agentWith(model, picture, rows, note)), 'Go')
    expect(result.finalOutput).toBe('Done.')
    expect(given).toEqual([{ text: IMAGE, list: ROWS }])
    const [, , noted, wrong] = lastResults(model)
    expect(noted).toBe('noted')
    expect(wrong).toMatch(/^invalid_arguments: .*cannot be converted to array/)
    expect(JSON.stringify(result.state).length).toBeLessThan(20_000)
  })

  it('shows the parameters with references, and explains them', async () => {
    const model = calling()
    const { note } = noting()
    const given = new Agent({ name: 'A', model, tools: [note], instructions: async () => 'Hi.' })
    await run(byReference().agent(given), 'Go')
    const { systemInstructions, tools } = model.firstCall?.request ?? {}
    expect(systemInstructions).toMatch(/^Hi\.\n\n## References\nasset:\/\/<id> is a file/)
    expect(tools?.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['note', 'fetch_asset', 'search_asset']),
    )
    expect(tools?.[0]).toMatchObject({
      strict: true,
      parameters: {
        properties: { list: { type: ['array', 'string'], description: '(or asset://…)' } },
        required: ['text', 'list'],
      },
    })
    expect(given.tools).toEqual([note])
  })

  it('does not change small results, structured outputs and errors', async () => {
    const outputs: Tool[] = [
      ['small', () => ({ city: 'Bonn' })],
      ['text', () => '{"a": 1}'],
      ['link', () => ({ type: 'image', image: 'https://example.org/a.png' })],
    ].map(([name, execute]) =>
      tool({ name, description: '', parameters: z.object({}), execute } as never),
    )
    const fails = tool({
      name: 'fails',
      description: '',
      parameters: z.object({}),
      execute: () => Promise.reject(new Error('no film')),
      errorFunction: (_context, error) => `It failed: ${(error as Error).message}`,
    })
    const seen = async (wrap: (agent: Agent) => Agent) => {
      const model = calling(() =>
        ['small', 'text', 'link', 'fails'].map((name): Call => [name, {}]),
      )
      await run(wrap(agentWith(model, ...outputs, fails)), 'Go')
      return lastResults(model)
    }
    const bare = await seen((agent) => agent)
    expect(bare[3]).toBe('It failed: no film')
    expect(await seen((agent) => byReference().agent(agent))).toEqual(bare)
  })

  it('shows the model why a result cannot be stored, and continues', async () => {
    const odd = tool({
      name: 'odd',
      description: '',
      parameters: z.object({}),
      execute: () => ({
        toJSON() {
          throw new Error('no JSON')
        },
      }),
    })
    const model = calling(() => [['odd', {}]])
    const { finalOutput } = await run(byReference().agent(agentWith(model, odd)), 'Go')
    expect(finalOutput).toBe('Done.')
    expect(lastResults(model)).toEqual(['tool_failed: no JSON'])
  })

  it('passes long numbers beside a reference as numbers', async () => {
    const given: unknown[] = []
    const at = tool({
      name: 'at',
      description: '',
      parameters: z.object({ time: z.number(), image: z.string() }),
      execute: ({ time }) => given.push(time),
    })
    const model = new ScriptedModel([
      modelResponse(callsOf([['picture', {}]])),
      modelResponder((call) => {
        const args = `{"time":1732791572123456789,"image":"${refIn(resultsIn(call)[0])}"}`
        return callsOf([['at', {}]]).map((item) => ({ ...item, arguments: args }))
      }),
      modelResponse([assistantMessage('Done.')]),
    ])
    await run(byReference().agent(agentWith(model, picture, at)), 'Go')
    expect(given).toEqual([Number('1732791572123456789')])
  })

  it('shows an image of the framework as a reference', async () => {
    const refs = byReference()
    const shoot = tool({
      name: 'shoot',
      description: '',
      parameters: z.object({}),
      execute: () => ({ type: 'image', image: `data:image/png;base64,${IMAGE}` }),
    })
    const model = calling(() => [['shoot', {}]])
    await run(refs.agent(agentWith(model, shoot)), 'Go')
    const [shown] = lastResults(model)
    expect(shown?.length).toBeLessThan(300)
    expect(await refs.assets.info(refIn(shown))).toMatchObject({ mime: 'image/png' })
  })

  it('finds bytes in text that is JSON', async () => {
    const refs = byReference()
    const text = tool({
      name: 'text',
      description: '',
      parameters: z.object({}),
      execute: () => JSON.stringify({ mimeType: 'image/png', data: IMAGE }),
    })
    const model = calling(() => [['text', {}]])
    await run(refs.agent(agentWith(model, text)), 'Go')
    expect(isPicture(await refs.assets.get(refIn(lastResults(model)[0])))).toBe(true)
  })

  it('streams references', async () => {
    const model = calling(
      () => [
        ['picture', {}],
        ['picture', {}],
      ],
      () => [['rows', {}]],
    )
    const stream = await run(byReference().agent(agentWith(model, picture, rows)), 'Go', {
      stream: true,
    })
    const outputs: unknown[] = []
    for await (const event of stream) {
      if (event.type === 'run_item_stream_event' && event.name === 'tool_output') {
        outputs.push(event.item.toJSON())
      }
    }
    await stream.completed
    expect(stream.finalOutput).toBe('Done.')
    expect(outputs).toHaveLength(3)
    expect(outputs.every((one) => JSON.stringify(one).length < 2_000)).toBe(true)
    const [first, second] = lastResults(model)
    expect(refIn(first)).not.toBe(refIn(second))
  })

  it('lets a rule for approval see values, and asks about references that it cannot read', async () => {
    const judged: unknown[] = []
    const { given, note } = noting((input) => {
      judged.push(input)
      return (input as { list: unknown[] }).list.length > 10
    })
    const few = { list: ROWS.slice(0, 1) }
    const refs = byReference()
    const { ref } = await refs.assets.save(Buffer.from('short'), 'text/plain')
    const model = calling(
      () => [['rows', {}]],
      ([list]) => [
        ['note', { text: 'a', ...few }],
        ['note', { text: ref, ...few }],
        ['note', { text: 'c', list: `${refIn(list)}/content` }],
        ['note', { text: 'asset://gone', ...few }],
      ],
    )
    const { interruptions } = await run(refs.agent(agentWith(model, rows, note)), 'Go')
    expect(judged).toEqual([
      { text: 'a', ...few },
      { text: 'short', ...few },
      { text: 'c', list: ROWS },
    ])
    expect(given).toEqual([
      { text: 'a', ...few },
      { text: 'short', ...few },
    ])
    expect(interruptions.map(({ arguments: args }) => JSON.parse(args ?? '').text)).toEqual([
      'c',
      'asset://gone',
    ])
  })

  it('keeps the state small while a person decides, and continues in another runner', async () => {
    const { given, note } = noting(true)
    const assets = createAssets()
    const model = calling(
      () => [
        ['picture', {}],
        ['rows', {}],
      ],
      ([image, list]) => [
        ['note', { text: refIn(image), list: `${refIn(list)}/content` }],
        ['note', { text: 'no', list: [] }],
      ],
    )
    const make = () => byReference({ assets }).agent(agentWith(model, picture, rows, note))
    const paused = await run(make(), 'Go')
    const text = paused.state.toString()
    expect(paused.interruptions).toHaveLength(2)
    expect(text.length).toBeLessThan(50_000)
    expect(given).toEqual([])

    const agent = make()
    const state = await RunState.fromString(agent, text)
    const [first, second] = state.getInterruptions()
    if (!first || !second) throw new Error('Nobody is asked')
    expect(first.arguments).toMatch(/asset:\/\//)
    state.approve(first)
    state.reject(second)
    const result = await new Runner().run(agent, state)
    expect(result.finalOutput).toBe('Done.')
    expect(given).toEqual([{ text: IMAGE, list: ROWS }])
    expect(result.state.toString().length).toBeLessThan(50_000)
  })

  it('continues after a kill, from the state that another process saved', async () => {
    const script = fileURLToPath(new URL('./fixtures/pause-and-wait.ts', import.meta.url))
    const child = spawn(process.execPath, ['--conditions=byref-source', script, folder], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    await once(child.stdout, 'data')
    child.kill('SIGKILL')
    await once(child, 'exit')

    const text = readFileSync(join(folder, 'state.json'), 'utf8')
    expect(text.length).toBeLessThan(30_000)
    const model = new ScriptedModel([modelResponse([assistantMessage('Published.')])])
    const { agent, published } = gaugeAgent(folder, model)
    const state = await RunState.fromString(agent, text)
    for (const one of state.getInterruptions()) state.approve(one)
    const result = await run(agent, state)
    expect(result.finalOutput).toBe('Published.')
    expect(published).toEqual([IMAGE])
    expect(lastResults(model).at(-1)).toBe(`${PICTURE.length} bytes`)
  })

  it('reads long results by pages, and shows no bytes', async () => {
    const model = calling(
      () => [
        ['rows', {}],
        ['picture', {}],
      ],
      ([list, image]) => [
        ['fetch_asset', { ref: refIn(list), startLine: 4_000, endLine: 4_004 }],
        ['search_asset', { ref: refIn(list), query: 'city 4321' }],
        ['fetch_asset', { ref: refIn(image) }],
        ['fetch_asset', { ref: 'asset://gone' }],
      ],
    )
    const result = await run(byReference().agent(agentWith(model, picture, rows)), 'Go')
    const [, , page, hits, bytes, gone] = lastResults(model)
    expect(JSON.parse(page ?? '')).toMatchObject({ startLine: 4_000, endLine: 4_004 })
    expect(hits).toMatch(/city 4321/)
    expect(bytes).toMatch(/^asset_unsupported: .*Pass the reference to a tool that takes files/)
    expect(gone).toMatch(/^asset_not_found: .*"gone"/)
    expect(result.state.toString().length).toBeLessThan(60_000)
  })

  it('keeps the parts of a result that need no reference', async () => {
    const url = 'https://example.com/a.png'
    const both = tool({
      name: 'both',
      description: 'Two images',
      parameters: z.object({}),
      execute: () => [
        { type: 'image' as const, image: url },
        { type: 'image' as const, image: `data:image/png;base64,${IMAGE}` },
      ],
    })
    const model = calling(() => [['both', {}]])
    const { history } = await run(byReference().agent(agentWith(model, both)), 'Go')
    const result = history.find(({ type }) => type === 'function_call_result')
    expect(Object(result).output).toMatchObject([
      { type: 'input_image', image: url },
      { type: 'input_text', text: expect.stringContaining('asset://') },
    ])
  })

  it('wraps the tools of MCP servers', async () => {
    const asked: unknown[] = []
    const parameters = { type: 'object' as const, properties: { image: { type: 'string' } } }
    const schema = { ...parameters, required: [], additionalProperties: false }
    const server: MCPServer = {
      name: 'camera',
      cacheToolsList: false,
      connect: async () => {},
      close: async () => {},
      invalidateToolsCache: async () => {},
      listTools: async () => [{ name: 'look', description: '', inputSchema: schema }],
      async callTool(_name, args) {
        asked.push(args)
        return [{ type: 'image', mimeType: 'image/png', data: IMAGE }]
      },
    }
    const model = calling(
      () => [['look', {}]],
      ([shown]) => [['look', { image: refIn(shown) }]],
    )
    const given = new Agent({ name: 'A', model, mcpServers: [server] })
    await run(byReference().agent(given), 'Go')
    expect(asked).toEqual([{}, { image: IMAGE }])
    expect(JSON.stringify(model.lastCall?.request.input).length).toBeLessThan(3_000)
  })

  it('works with agents as tools, also when a person decides about their calls', async () => {
    const { given, note } = noting(true)
    const assets = createAssets()
    const inner = calling((): Call[] => [['note', { text: 'inner', list: [] }]])
    const outer = calling((): Call[] => [['helper', { input: 'Help' }]])
    const make = () => {
      const refs = byReference({ assets })
      const helper = refs.agent(new Agent({ name: 'Helper', model: inner, tools: [note] }))
      const asTool = helper.asTool({ toolName: 'helper', toolDescription: 'Helps' })
      return refs.agent(agentWith(outer, asTool))
    }
    const paused = await run(make(), 'Go')
    const agent = make()
    const state = await RunState.fromString(agent, paused.state.toString())
    for (const one of state.getInterruptions()) state.approve(one)
    const result = await run(agent, state)
    expect(result.finalOutput).toBe('Done.')
    expect(given).toEqual([{ text: 'inner', list: [] }])
  })

  it('passes references on in handoffs', async () => {
    const refs = byReference()
    const { given, note } = noting()
    const second = refs.agent(
      new Agent({
        name: 'Second',
        tools: [note],
        model: calling(([image]) => [['note', { text: refIn(image), list: [] }]]),
      }),
    )
    const first = new Agent({
      name: 'First',
      tools: [picture],
      handoffs: [second],
      model: calling(
        () => [['picture', {}]],
        () => [['transfer_to_Second', {}]],
      ),
    })
    const result = await run(refs.agent(first), 'Go')
    expect(result.lastAgent?.name).toBe('Second')
    expect(given).toEqual([{ text: IMAGE, list: [] }])
  })

  it('keeps the assets of namespaces apart', async () => {
    const refs = byReference({
      assets: createAssets({ config: { namespacing: { mode: 'optional' } } }),
    })
    const model = calling(() => [['picture', {}]])
    await run(refs.scoped('ann').agent(agentWith(model, picture)), 'Go')
    const ref = refIn(lastResults(model)[0])
    expect(isPicture(await refs.scoped('ann').assets.get(ref))).toBe(true)
    await expect(refs.scoped('bob').assets.get(ref)).rejects.toMatchObject({
      code: 'asset_not_found',
    })
  })

  it('prefers a tool of the agent to a reading tool of the same name, and adds edit_asset on demand', () => {
    const own = tool({
      name: 'fetch_asset',
      description: 'mine',
      parameters: z.object({}),
      execute: () => 'mine',
    })
    const { tools } = byReference({ editing: true }).agent(agentWith(new ScriptedModel(), own))
    const named = tools.filter(({ name }) => name === 'fetch_asset')
    expect(named).toMatchObject([{ description: 'mine' }])
    expect(tools.some(({ name }) => name === 'edit_asset')).toBe(true)
  })

  it('rejects options that it does not have, such as trust', () => {
    const make = (options: object) => () => byReference(options as never)
    expect(make({ trust: 'track' })).toThrow(/Unknown option "trust"/)
    expect(make({ maxResultChars: 0 })).toThrow(/maxResultChars must be/)
    expect(make({ editing: 'yes' })).toThrow(/editing must be/)
    expect(make({ namespace: 1 })).toThrow(/namespace must be/)
    expect(() => byReference().agent({ name: 'A' } as never)).toThrow(/must be a new Agent/)
  })
})
