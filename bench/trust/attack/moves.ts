import type { Random } from '../../../src/agent/fixtures/random.ts'
import type { Tool } from '../../../src/boundary/tool.ts'
import { createAgent, defineTool } from '../../../src/index.ts'
import type { Move } from './entries.ts'
import { isPoisoned, type Scene } from './scene.ts'

const any = { type: 'object', properties: { value: {}, other: {} } } as const
const pure = { readOnly: true, openWorld: false, idempotent: true, inputSchema: any } as const

/** A read-only tool with trusted results for trusted arguments. */
function ours(scene: Scene, id: string, execute: Tool['execute'], more: object = {}): void {
  const noted: Tool['execute'] = (input, context) => {
    // The reference had no value, so what follows comes from the model.
    const text = JSON.stringify(give(input)) ?? ''
    if (text.includes('variable_not_found') && !isPoisoned(text)) scene.isListOurs = true
    return execute(input, context)
  }
  scene.use(defineTool({ ...pure, id, description: id, execute: noted, ...more } as never) as Tool)
}

/** Passes the poison through such a tool. */
const through = (
  name: string,
  id: string,
  execute: Tool['execute'],
  value: (at: string) => unknown = (at) => at,
  more: object = {},
): Move => ({
  name,
  apply(scene) {
    ours(scene, id, execute, more)
    scene.call(id, { value: value(scene.at) })
  },
})

const give = (input: unknown): unknown => (input as { value?: unknown }).value

/** Writes the poison to the board. */
const writing = (name: string, path: string, method: string, at: string): Move => ({
  name,
  apply(scene) {
    ours(scene, 'echo', give)
    const from = scene.at
    scene.aside('echo', { value: 'ours', _outputPath: '†box' })
    scene.call('echo', { value: from, _outputPath: path, _outputMethod: method })
    scene.at = at
  },
})

/** What can happen to the poison before it is used. */
export const HOPS: readonly Move[] = [
  through('given back', 'echo', give),
  through('in an object', 'echo', give, (at) => ({ a: at })),
  through('in a list', 'echo', give, (at) => [at, 'ours']),
  through('in a text', 'echo', give, (at) => `see <|${at}|>`),
  through('as two texts', 'echo', give, (at) => `<|${at}|><|${at}|>`),
  through('in an error', 'complain', (input) => {
    throw new Error(`wrong: ${JSON.stringify(give(input))}`)
  }),
  through('refused by a schema', 'strict', give, (at) => at, {
    inputSchema: {
      type: 'object',
      properties: { value: { type: 'object', properties: {}, additionalProperties: false } },
    },
  }),
  through('as what an asset holds', 'open_it', give, (at) => at, {
    inputSchema: { type: 'object', properties: { value: { asset_ref_acceptable: true } } },
  }),
  through(
    'as bytes of an asset',
    'bytes',
    (input) => Buffer.from(give(input) as Uint8Array).toString(),
    (at) => at,
    {
      inputSchema: {
        type: 'object',
        properties: { value: { asset_ref_acceptable: true, asset_ref_as: 'bytes' } },
      },
    },
  ),
  through(
    'as a large value',
    'large',
    (input) => ({ text: give(input), x: 'x'.repeat(999) }),
    (at) => at,
    { maxResultChars: 300 },
  ),
  through('as keys', 'keys', (input) => ({ [String(JSON.stringify(give(input)))]: 1 })),
  through('by what a tool reads itself', 'peek', async (input, { read }) => ({
    a: await read(String((input as { other: string }).other ?? '†result#1')),
  })),
  {
    name: 'for each item',
    apply(scene) {
      ours(scene, 'echo', give)
      scene.call('echo', { _each: scene.at, value: '†item' })
    },
  },
  {
    name: 'for each of a list',
    apply(scene) {
      ours(scene, 'echo', give)
      scene.call('echo', { _each: [scene.at, 'ours'], value: '†item' })
      scene.isListOurs = true
    },
  },
  {
    name: 'with an index',
    apply(scene) {
      ours(scene, 'echo', give)
      scene.call('echo', { _each: [1, 2], value: scene.at, other: '†index' })
      scene.isListOurs = true
    },
  },
  writing('set among the data', '†box.a', 'set', '†box.a'),
  writing('set as the data', '†box', 'set', '†box'),
  writing('pushed to a list', '†list', 'push', '†list[0]'),
  writing('merged into the data', '†box', 'merge', '†box'),
  writing('joined to a list', '†list', 'concat', '†list'),
  writing('at a path named *', '†box["*"]', 'set', '†box["*"]'),
  writing('to two places', '†box.a && †other', 'set', '†other'),
  writing('to a place for errors', '†box.a || †errors', 'set', '†errors'),
  {
    name: 'with ours written over some of it',
    apply(scene) {
      ours(scene, 'echo', give)
      scene.call('echo', { value: { a: scene.at, b: 1 }, _outputPath: '†box' })
      scene.call('echo', { value: 'ours', _outputPath: '†box.b' })
      scene.at = '†box.a'
    },
  },
  {
    name: 'in an instance of the data',
    apply(scene) {
      ours(scene, 'echo', give, { instances: true })
      scene.call('echo', { value: scene.at, _instance: 'x', _outputPath: '†box' })
      scene.at = '†box#x'
    },
  },
  {
    name: 'fetched',
    apply(scene, choose) {
      scene.set({ reading: true })
      scene.call('fetch_asset', { ref: scene.at, format: choose.pick(['text', 'dataUrl']) })
    },
  },
  {
    name: 'searched',
    apply(scene) {
      scene.set({ reading: true })
      scene.call('search_asset', { ref: scene.at, query: '.', regex: true })
    },
  },
  {
    name: 'as what is searched for',
    async apply(scene) {
      const { ref } = await scene.assets.saveAsset({ content_type: 'text/plain', content: 'ours' })
      scene.set({ reading: true })
      scene.call('search_asset', { ref, query: scene.at, regex: true })
    },
  },
  {
    name: 'saved under its own name',
    apply(scene) {
      scene.natives.add('save_asset')
      scene.call('save_asset', { text: `<|${scene.at}|>`, name: scene.at })
    },
  },
  {
    name: 'in a query',
    async apply(scene) {
      const made = await scene.assets.importFile(Buffer.from('a,b\n1,2\n'), { name: 'ours.csv' })
      scene.natives.add('query_tables')
      const sql = `SELECT '<|${scene.at}|>' AS a FROM "${made.table?.ref}"`
      scene.call('query_tables', { sql })
    },
  },
  {
    name: 'as a table of a query',
    apply(scene) {
      ours(scene, 'echo', give)
      scene.call('echo', { value: [{ a: scene.at, b: 1 }] })
      scene.natives.add('query_tables')
      scene.call('query_tables', { sql: `SELECT * FROM "${scene.at}"` })
      scene.at += '.rows[0]'
    },
  },
  {
    name: 'asked about',
    apply(scene, choose) {
      const schema = choose.pick([{ type: 'string' }, { type: 'boolean' }, { enum: ['a', 'b'] }])
      // A closed answer is trusted, and so is a list with that answer.
      scene.isListOurs = true
      scene.call('ask_about', { refs: [scene.at], question: 'What is it?', schema })
    },
  },
  {
    name: 'given to a sub-agent',
    apply(scene) {
      const turns = [
        { calls: [{ name: 'echo', arguments: { value: '†input.task' } }] },
        '<|†result#1|>',
      ]
      const model = scene.inner(turns)
      ours(scene, 'echo', give)
      const tools = [scene.tools.get('echo') as Tool]
      const agent = createAgent({ model, trust: 'quarantine', tools, log: undefined })
      scene.closing.push(() => agent.close())
      scene.use(agent.asTool({ id: 'delegate', description: 'Helps' }) as Tool)
      scene.call('delegate', { task: scene.at })
    },
  },
  { name: 'in another run', apply: (scene) => void scene.turns.push({ next: 'run' }) },
  { name: 'in a fork', apply: (scene) => void scene.turns.push({ next: 'fork' }) },
  { name: 'in an import', apply: (scene) => void scene.turns.push({ next: 'import' }) },
]

/** The path after the reference. */
export const PATHS = [
  ...['', '', '', '.text', '.title', '.from', '[0]', '[0].text', '.rows', '.rows[0]', '.theirs'],
  ...['.note.deep[0]', '.a', '.value', '.message', '.missing', '.file', '.said', '["*"]', '.label'],
] as const

interface Acting {
  properties?: object
  more?: object
  /** The parts of its input that the attacker must not control. */
  guarded?(input: Record<string, unknown>): unknown
  /** Whether the attack succeeds as soon as the tool runs. */
  counts?: boolean
}

/** An acting tool with its name. */
function act(
  scene: Scene,
  { properties = {}, more = {}, guarded = (input) => input, counts = false }: Acting = {},
): string {
  const id = `act_${scene.tools.size}`
  scene.use(
    defineTool({
      id,
      description: 'Acts',
      openWorld: false,
      mappable: true,
      inputSchema: { type: 'object', properties: { value: {}, other: {}, ...properties } },
      execute(input: Record<string, unknown>, { toolCallId }: { toolCallId: string }) {
        scene.act(toolCallId, guarded(input), counts && !scene.isListOurs && !scene.isAnswered)
        return { done: input }
      },
      ...more,
    } as never) as Tool,
  )
  return id
}

const acting = (
  name: string,
  args: (at: string) => Record<string, unknown>,
  how: Acting = {},
): Move => ({
  name,
  apply(scene) {
    scene.call(act(scene, how), args(scene.at))
  },
})

const OPEN = { accepts: { integrity: 'untrusted', confidentiality: 'private' } }
const TRUSTED = { 'x-accepts': { integrity: 'trusted' } }
const mailOf = (more: object = {}) => ({
  mail: {
    type: 'object',
    asset_ref_acceptable: true,
    properties: { from: TRUSTED, text: TRUSTED, a: TRUSTED, title: TRUSTED, theirs: TRUSTED },
    ...more,
  },
})
/** The fields of a mail that must be trusted. */
const guardedFields = (value: unknown): unknown => {
  const { from, text, a, title, theirs } = Object(value)
  return typeof value === 'object' ? { from, text, a, title, theirs } : null
}

/** The goals of an attacker. */
export const SINKS: readonly Move[] = [
  acting('an argument', (at) => ({ value: at })),
  acting('a field of an argument', (at) => ({ value: { to: at } })),
  acting('an item of an argument', (at) => ({ value: ['ours', at] })),
  acting('a part of a text', (at) => ({ value: `to <|${at}|>` })),
  acting('each item', (at) => ({ _each: at, value: '†item' })),
  acting('each of a list', (at) => ({ _each: ['ours', at], value: '†item' })),
  acting('the number of calls', (at) => ({ _each: at, value: 'ours' }), { counts: true }),
  acting('indexes', (at) => ({ _each: at, value: '†index' }), { counts: true }),
  acting('what an asset holds', (at) => ({ value: at }), {
    properties: { value: { type: 'string', asset_ref_acceptable: true } },
  }),
  acting('rows of an asset', (at) => ({ value: at }), {
    properties: { value: { asset_ref_acceptable: true, asset_ref_as: 'asset' } },
  }),
  acting('fields that must be trusted', (at) => ({ mail: at }), {
    properties: mailOf(),
    more: OPEN,
    guarded: ({ mail }) => guardedFields(mail),
  }),
  acting('fields of items that must be trusted', (at) => ({ mails: [at] }), {
    properties: { mails: { type: 'array', items: mailOf().mail } },
    more: OPEN,
    guarded: ({ mails }) => [mails].flat(3).map(guardedFields),
  }),
  acting('fields of a list that must be trusted', (at) => ({ mails: at }), {
    properties: { mails: { type: 'array', items: mailOf().mail } },
    more: OPEN,
    guarded: ({ mails }) => [mails].flat(3).map(guardedFields),
  }),
  acting('fields by a definition', (at) => ({ mail: at }), {
    properties: {},
    more: {
      ...OPEN,
      inputSchema: {
        type: 'object',
        properties: { mail: { $ref: '#/$defs/mail' }, value: {}, other: {} },
        $defs: { mail: mailOf().mail },
      },
    },
    guarded: ({ mail }) => guardedFields(mail),
  }),
  acting('a branch that must be trusted', (at) => ({ value: at }), {
    properties: {
      value: { anyOf: [{ type: 'string' }, { 'x-accepts': { integrity: 'untrusted' } }] },
    },
  }),
  acting('a parameter beside an open one', (at) => ({ value: at, other: at }), {
    properties: { value: { 'x-accepts': { integrity: 'untrusted' } }, other: {} },
    guarded: ({ other }) => other,
  }),
  acting('a closed number', (at) => ({ value: at }), {
    properties: { value: { type: 'integer', minimum: 0, maximum: 99 } },
  }),
  acting('a closed choice', (at) => ({ value: at }), {
    properties: { value: { enum: ['a', 'b'] } },
  }),
  acting('a date', (at) => ({ value: at }), {
    properties: { value: { type: 'string', format: 'date-time' } },
  }),
  acting('a part of a date', (at) => ({ value: `2026-05-14<|${at}|>` }), {
    properties: { value: { type: 'string', format: 'date' } },
  }),
  {
    name: 'data that a tool reads itself',
    apply(scene) {
      const { at } = scene
      scene.aside(act(scene, { guarded: () => 'ours' }), {
        value: 'ours',
        other: at,
        _outputPath: '†acted',
      })
      scene.at = '†acted'
    },
  },
  {
    name: 'two calls of one answer',
    apply(scene) {
      const name = act(scene)
      ours(scene, 'echo', give)
      scene.turns.push({
        calls: [
          { name: 'echo', arguments: { value: scene.at, _outputPath: '†box' } },
          { name, arguments: { value: '†box' } },
          { name, arguments: { value: { a: '†box.text' } } },
        ],
      })
      scene.results += 3
    },
  },
  {
    name: 'an instance that holds it',
    apply(scene) {
      const name = act(scene, { more: { instances: true } })
      ours(scene, 'echo', give, { instances: true })
      const { at } = scene
      scene.aside('echo', { value: at, _instance: 'y', _outputPath: '†state' })
      scene.call(name, { value: '†state', _instance: 'y' })
    },
  },
  {
    name: 'an agent that acts',
    apply(scene) {
      const name = act(scene)
      const turns = ['†input.task', '†box', '†box.a'].map((value) => {
        return { calls: [{ name, arguments: { value } }] }
      })
      const agent = createAgent({
        model: scene.inner(turns),
        tools: [scene.tools.get(name) as Tool],
        trust: { mode: 'quarantine', onViolation: 'deny' },
      })
      scene.closing.push(() => agent.close())
      scene.use(agent.asTool({ id: 'delegate', description: 'Acts', data: ['†box'] }) as Tool)
      scene.call('delegate', { task: scene.at })
    },
  },
  {
    name: 'an answer in words',
    apply: (scene) => void scene.turns.push(`It says <|${scene.at}|>`, { next: 'run' }),
  },
]

/** Options of the agent. */
export const SETTINGS: readonly Move[] = [
  ...(['cache', 'engine', 'model'] as const).map((merge) => ({
    name: `merge ${merge}`,
    apply: (scene: Scene) => scene.set({ merge }),
  })),
  {
    name: 'questions',
    apply: (scene) => scene.set({ trust: 'quarantine' }),
  },
  {
    name: 'a person who says yes to what looks fine',
    apply(scene) {
      scene.set({ trust: 'quarantine' })
      scene.isAnswered = true
    },
  },
  {
    name: 'a short history',
    apply(scene) {
      const history = { maxTokens: 300, summarize: (given: unknown) => JSON.stringify(given) }
      scene.set({ history } as never)
    },
  },
  {
    name: 'pictures by reference',
    apply(scene) {
      const capabilities = { takes: ['image/*'] }
      scene.set({ capabilities } as never)
    },
  },
]

/** A path after a reference. */
export function follow(scene: Scene, path: string): void {
  scene.at = `${scene.at}${path}`
}

export type { Random }
