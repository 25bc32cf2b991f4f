import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, it } from 'vitest'
import { referencedInLog } from '../../src/agent/index.ts'
import { withRecords } from '../../src/assets/stores/with-records.ts'
import * as stores from '../../src/assets/stores.ts'
import { createBoundary } from '../../src/boundary/index.ts'
import { createClient } from '../../src/client/index.ts'
import * as core from '../../src/core/index.ts'
import { createQueue, createWorker } from '../../src/hosts/index.ts'
import * as root from '../../src/index.ts'
import { createAgUiHandler } from '../../src/integrations/ag-ui/index.ts'
import {
  byReference,
  createAssetHandler,
  createChatHandler,
  uiMessages,
} from '../../src/integrations/ai-sdk/index.ts'
import { byReference as langchainByReference } from '../../src/integrations/langchain/index.ts'
import { byReference as mastraByReference } from '../../src/integrations/mastra/index.ts'
import {
  createMcpServer,
  joinServers,
  mcpTools,
  proxyMcp,
} from '../../src/integrations/mcp/index.ts'
import { createResponsesHandler } from '../../src/integrations/openai/index.ts'
import { byReference as agentsByReference } from '../../src/integrations/openai-agents/index.ts'
import { createTracedAgent } from '../../src/integrations/otel/index.ts'
import { createPostgresLog, postgresRecords } from '../../src/postgres.ts'
import { createServer, signingKey, signToken } from '../../src/server/index.ts'
import { createSqliteLog, sqliteRecords } from '../../src/sqlite.ts'
import {
  scriptedModel,
  testAssetStore,
  testBoundary,
  testConversationLog,
} from '../../src/testing/index.ts'
import { type OptionFunction, optionFunctions } from './option-functions.ts'

/** Functions whose parameters are not options, and why. */
const NO_OPTIONS: Readonly<Record<string, RegExp>> = {
  'errors, which byref throws':
    /^(ApiError|ByrefError|LeaseHeldError|SchemaViolationError|TableError)\[/,
  'byref calls these, whoever wrote them':
    /^(BodyStore|ConversationQueue|HostQueue|LogUpkeep|RecordIndex|S3Connector|ScriptedModel|Tool)\./,
  'they take messages, events and states':
    /^(Board.append|Fold.apply|Labels|LineageGraph|fold|foldAll|isDeleted|openRun|readMetadata|splitDebug|toMessage|waiting(Sub)?Calls)\b/,
  'the server checks what is said': /^Client\.(editData|send)\[1\]/,
}

/** Types of parameters that are values or objects, not options. */
const VALUES =
  /^(Agent|Asset|AssetCreated|AssetFailure|AssetRef|AssetRefParts|Assets|Channel|ConversationLog|ConversationState|FirstClient|Label|LabelTree|LanguageModelV\d|NodeStream|RememberedAsset|TextInput|ValueSource|VariableRef|.*PROMPT_COMPACTED.*)$/

/** Types of options whose properties are not options: objects, messages, and values that the store keeps for others. */
const OBJECTS =
  /^(Agent|AssetAttributes|Assets|AssetStore|BodyStore|ConversationLog|ConversationQueue|HostQueue|LanguageModelV\d|Plugin|RecordIndex|R2Bucket|S3Connector|ServerLogger|StorePart|Message|\w+Input|EventsPage|(Omit|Pick)?.*Standard.*|Label)$/

/** `toAssetStore` saves through assets, which take fewer options than a store. */
const NOT_TAKEN = /^AssetStore.save.(createdAt|attributes|parts|objects|quota)$/

const INPUTS = /^(LabelInput|LabelTreeInput)$/

const folderOfRoot = fileURLToPath(new URL('../..', import.meta.url)).replace(/\/$/, '')
const functions = optionFunctions(
  folderOfRoot,
  (type) => !OBJECTS.test(type) || INPUTS.test(type),
).filter(
  ({ name, at, type }) =>
    !VALUES.test(type) && !Object.values(NO_OPTIONS).some((one) => one.test(`${name}[${at}]`)),
)

const byref = { ...stores, ...core, ...root, referencedInLog }
const model = scriptedModel([])
const agent = byref.createAgent({ model })
const assets = byref.createAssets()
const boundary = createBoundary({ assets })
const assetStore = byref.toAssetStore(assets)
const board = byref.createBoard()
const client = createClient()
const server = createServer({ agent })
const folder = mkdtempSync(join(tmpdir(), 'byref-options-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const parts = { records: stores.memoryRecords(), bodies: stores.memoryBodies() }
const full = [stores.createStore(parts), stores.createPassthroughStore(), withRecords(assetStore)]
const pool = { query() {}, connect() {}, on() {}, listenerCount: () => 1 } as never
const logs = [byref.createMemoryLog(), createSqliteLog(':memory:'), createPostgresLog({ pool })]
const channel = { start: async () => {}, send: async () => {}, close: async () => {} }
const r2 = {
  head() {},
  get() {},
  put() {},
  createMultipartUpload() {},
  delete() {},
  list() {},
} as never
const tool = { id: 'a', description: '', inputSchema: { type: 'object' }, execute: () => 1 }

/** Calls each function with these options, and the required ones. */
const CALLS: Readonly<Record<string, (options: never) => unknown>> = {
  'Agent.add[2]': (options) => agent.add('c', 'x', options),
  'Agent.advance[1]': (options) => agent.advance('c', options),
  'Agent.approve[2]': (options) => agent.approve('c', 'call', options),
  'Agent.approve[3]': (options) => agent.approve('c', 'call', { approved: true }, options),
  'Agent.asTool[0]': (options) => agent.asTool(options),
  'Agent.cancel[1]': (options) => agent.cancel('c', options),
  'Agent.conversation[1]': (options) => agent.conversation('c', options),
  'Boundary.describe[0]': (options) => boundary.describe(options),
  'Boundary.offload[0]': (options) => boundary.offload(options, { value: 1, events: [] }),
  'Boundary.resolve[0]': (options) => boundary.resolve(options, null),
  'Boundary.show[0]': (options) => boundary.show(options, 1, 1),
  'Boundary.store[0]': (options) => boundary.store(options, 1),
  'Boundary.withInput[0]': (options) => boundary.withInput(options, () => 1),
  'createBoundary[0]': (options) => createBoundary(options),
  'scriptedModel[1]': (options) => scriptedModel([], options),
  'testBoundary[2]': (options) =>
    testBoundary(
      async () => ({}) as never,
      () => {},
      options,
    ),
  'Agent.debug[2]': (options) => agent.debug('c', 'm', options),
  'Agent.deleteMessage[2]': (options) => agent.deleteMessage('c', 'm', options),
  'Agent.deleteConversation[1]': (options) => agent.deleteConversation('c', options),
  'Agent.fork[1]': (options) => agent.fork('c', options),
  'Agent.lineage[2]': (options) => agent.lineage('c', '†x', options),
  'Agent.resume[1]': (options) => agent.resume('c', options).result,
  'Agent.costs[0]': (options) => agent.costs(options),
  'Agent.listTools[0]': (options) => agent.listTools(options),
  'Agent.runs[0]': (options) => agent.runs(options),
  'Agent.run[0]': (options) => agent.run(options).result,
  'Agent.scoped[1]': (options) => agent.scoped('n', options),
  'Agent.send[2]': (options) => agent.send('c', 'x', options),
  'Agent.start[0]': (options) => agent.start(options),
  'AssetStore.get[1]': (options) => assetStore.get('a', options),
  'AssetStore.info[1]': (options) => assetStore.info?.('a', options),
  'AssetStore.save[2]': (options) => assetStore.save(new Uint8Array(), 'image/png', options),
  'AssetStore.urlFor[1]': (options) => assetStore.urlFor('a', options),
  'Assets.delete[1]': (options) => assets.delete('a', options),
  'Assets.edit[2]': (options) => assets.edit('a', [], options),
  'Assets.get[1]': (options) => assets.get('a', options),
  'Assets.getBase64[1]': (options) => assets.getBase64('a', options),
  'Assets.getDataUrl[1]': (options) => assets.getDataUrl('a', options),
  'Assets.importFile[1]': (options) => assets.importFile(new Uint8Array(), options),
  'Assets.info[1]': (options) => assets.info('a', options),
  'Assets.list[0]': (options) => assets.list(options),
  'Assets.meta[1]': (options) => assets.meta('a', options),
  'Assets.open[1]': (options) => assets.open('a', options),
  'Assets.query[0]': (options) => assets.query(options),
  'Assets.query[1]': (options) => assets.query({ sql: 'SELECT 1' }, options),
  'Assets.remember[1]': (options) => assets.remember({} as never, options),
  'Assets.resolve[1]': (options) => assets.resolve('a', options),
  'Assets.text[1]': (options) => assets.text('a', options),
  'Assets.rows[1]': (options) => assets.rows('a', options),
  'Assets.save[2]': (options) => assets.save(new Uint8Array(), null, options),
  'Assets.saveAsset[0]': (options) => assets.saveAsset(options),
  'Assets.saveAsset[1]': (options) =>
    assets.saveAsset({ content_type: 'data', content: 1 }, options),
  'Assets.scoped[0]': (options) => assets.scoped(options),
  'Assets.sweep[0]': (options) => assets.sweep(options),
  'Assets.urlFor[1]': (options) => assets.urlFor('a', options),
  'Assets.usage[0]': (options) => assets.usage(options),
  'Assets.versions[1]': (options) => assets.versions('a', options),
  'Assets.verify[0]': (options) => assets.verify(options),
  'Board.entries[0]': (options) => board.entries(options),
  'Board.has[1]': (options) => board.has('†x', options),
  'Board.read[1]': (options) => board.read('†x', options),
  'Board.snapshot[0]': (options) => board.snapshot(options),
  'Client.approve[2]': (options) => client.approve('c', 'call', options),
  'Client.cancel[1]': (options) => client.cancel('c', options),
  'Client.assetContent[1]': (options) => client.assetContent('a', options),
  'Client.assetUrl[1]': (options) => client.assetUrl('a', options),
  'Client.assets[0]': (options) => client.assets(options),
  'Client.conversation[1]': (options) => client.conversation('c', options),
  'Client.conversations[0]': (options) => client.conversations(options),
  'Client.costs[0]': (options) => client.costs(options),
  'Client.runs[0]': (options) => client.runs(options),
  'Client.tools[0]': (options) => client.tools(options),
  'Client.tool[1]': (options) => client.tool('t', options),
  'Client.createConversation[0]': (options) => client.createConversation(options),
  'Client.data[1]': (options) => client.data('c', options),
  'Client.debug[2]': (options) => client.debug('c', 'm', options),
  'Client.edit[2]': (options) => client.edit('a', [], options),
  'Client.events[1]': (options) => client.events('c', options),
  'Client.exportConversation[1]': (options) => client.exportConversation('c', options),
  'Client.followConversations[1]': (options) => client.followConversations(() => {}, options),
  'Client.forkConversation[1]': (options) => client.forkConversation('c', options),
  'Client.importConversation[1]': (options) => client.importConversation('', options),
  'Client.labels[1]': (options) => client.labels('c', options),
  'Client.messages[1]': (options) => client.messages('c', options),
  'Client.prompt[2]': (options) => client.prompt('c', 'm', options),
  'Client.query[0]': (options) => client.query(options),
  'Client.retry[2]': (options) => client.retry('c', 'm', options),
  'Client.rows[1]': (options) => client.rows('a', options),
  'Client.send[2]': (options) => client.send('c', { content: 'x' }, options),
  'Client.signAsset[1]': (options) => client.signAsset('a', options),
  'Client.upload[1]': (options) => client.upload(new Blob([]), options),
  'ConversationLog.append[2]': (options) => all(logs, (log) => log.append('c', [], options)),
  'ConversationLog.costs[0]': (options) => all(logs, (log) => log.costs(options)),
  'ConversationLog.runs[0]': (options) => all(logs, (log) => log.runs(options)),
  'ConversationLog.import[1]': (options) => all(logs, (log) => log.import([], options)),
  'ConversationLog.list[0]': (options) => all(logs, (log) => log.list(options)),
  'ConversationLog.read[1]': (options) => all(logs, (log) => log.read('c', options)),
  'ConversationLog.renew[1]': (options) => all(logs, (log) => log.renew('c', options)),
  'ConversationLog.subscribe[1]': (options) => all(logs, (log) => log.subscribe(() => {}, options)),
  'ByReference.durable[0]': (options: object) => byReference().durable({ model, ...options }),
  'FullAssetStore.delete[1]': (options) => all(full, (store) => store.delete('a', options)),
  'FullAssetStore.get[1]': (options) => all(full, (store) => store.get('a', options)),
  'FullAssetStore.info[1]': (options) => all(full, (store) => store.info('a', options)),
  'FullAssetStore.list[0]': (options) => all(full, (store) => store.list(options)),
  'FullAssetStore.object[2]': (options) => all(full, (store) => store.object('a', 0, options)),
  'FullAssetStore.open[1]': (options) => all(full, (store) => store.open('a', options)),
  'FullAssetStore.remember[1]': (options) => full[2]?.remember?.({} as never, options),
  'FullAssetStore.save[2]': (options) =>
    all(full, (store) => store.save(new Uint8Array(), 'image/png', options)),
  'FullAssetStore.sweep[0]': (options) => all(full, (store) => store.sweep(options)),
  'FullAssetStore.urlFor[1]': (options) => all(full, (store) => store.urlFor('a', options)),
  'FullAssetStore.usage[0]': (options) => all(full, (store) => store.usage(options)),
  'FullAssetStore.verify[0]': (options) => all(full, (store) => store.verify(options)),
  'Server.listen[0]': (options) => server.listen(options),
  'TableRows.select[0]': async (options) => {
    const { table } = await assets.importFile(Buffer.from('a,b\n1,2\n'), { name: 'a.csv' })
    return (await assets.rows(table?.ref ?? '')).select(options)
  },
  'assetMeta[1]': (options) => byref.assetMeta({} as never, options),
  'byReference[0]': (options) => byReference(options),
  'byReference of ./langchain[0]': (options) => langchainByReference(options),
  'byReference of ./mastra[0]': (options) => mastraByReference(options),
  'byReference of ./openai-agents[0]': (options) => agentsByReference(options),
  'createAgUiHandler[0]': (options: object) => createAgUiHandler({ agent, ...options }),
  'createAgent[0]': (options: object) => byref.createAgent({ model, ...options }),
  'createAssetHandler[0]': (options: object) => createAssetHandler({ assets, ...options }),
  'createAssets[0]': (options) => byref.createAssets(options),
  'createBoard[1]': (options) => byref.createBoard([], options),
  'createChatHandler[0]': (options: object) => createChatHandler({ agent, ...options }),
  'createClient[0]': (options) => createClient(options),
  'createFold[1]': (options) => byref.createFold(undefined, options),
  'createMcpServer[0]': (options: object) => createMcpServer({ agent, ...options }),
  'createPassthroughStore[0]': (options) => stores.createPassthroughStore(options),
  'createPostgresLog[0]': (options) => createPostgresLog(options),
  'createQueue[0]': (options) => createQueue(options),
  'createResponsesHandler[0]': (options: object) => createResponsesHandler({ agent, ...options }),
  'createS3Connector[0]': (options) => stores.createS3Connector(options),
  'createServer[0]': (options: object) => createServer({ agent, ...options }),
  'createSqliteLog[1]': (options) => createSqliteLog(':memory:', options),
  'createStore[0]': (options: object) => stores.createStore({ ...parts, ...options }),
  'createTracedAgent[0]': (options: object) => createTracedAgent({ model, ...options }),
  'createTracedAgent[1]': (options) => createTracedAgent({ model }, options),
  'createWorker[0]': (options) => createWorker(options),
  'defineTool[0]': (options: object) => byref.defineTool({ ...tool, ...options }),
  'extractAssets[1]': (options) => byref.extractAssets({}, options),
  'findEmbeddedRefs[1]': (options) => byref.findEmbeddedRefs('', options),
  'flatten[1]': (options) => byref.flatten({}, options),
  'fsBodies[1]': (options) => stores.fsBodies(folder, options),
  'joinServers[1]': (options) => joinServers([{ name: 'a', connect: () => channel }], options),
  'mcpTools[1]': (options) => mcpTools({} as never, options),
  'namedAssets[1]': (options) => byref.namedAssets({}, options),
  'postgresRecords[0]': (options) => postgresRecords(options),
  'proxyMcp[2]': (options) => proxyMcp(channel, channel, options),
  'r2Bodies[0]': (options: object) => stores.r2Bodies({ bucket: r2, ...options }),
  'rebuildRecords[0]': (options) => stores.rebuildRecords(options),
  'rebuildRecords[1]': (options) => stores.rebuildRecords(parts, options),
  'referencedInLog[1]': (options) => byref.referencedInLog(byref.createMemoryLog(), options),
  'renderContext[1]': (options) => byref.renderContext([], options),
  'renderEmbeddedRefs[2]': (options) => byref.renderEmbeddedRefs('', String, options),
  'request[0]': (options: object) => byref.request({ model, ...options }, { type: 'object' }, []),
  'resolveFieldPath[2]': (options) => byref.resolveFieldPath({}, [], options),
  's3Bodies[0]': (options: object) => stores.s3Bodies({ bucket: 'b', ...options }),
  'signToken[1]': (options) => signToken(signingKey('x'.repeat(32)), options),
  'sqliteRecords[1]': (options) => sqliteRecords(':memory:', options),
  'testAssetStore[2]': (options) =>
    testAssetStore(
      () => assetStore,
      () => {},
      options,
    ),
  'testConversationLog[2]': (options) =>
    testConversationLog(
      () => byref.createMemoryLog(),
      () => {},
      options,
    ),
  'uiMessages[2]': (options) => uiMessages(agent, 'c', options),
  'unflatten[1]': (options) => byref.unflatten({}, options),
}

/** Returns misspellings of a name: a letter missing, added, replaced, or two swapped. */
function misspelt(name: string): string[] {
  const middle = Math.floor(name.length / 2)
  const cut = name.slice(0, middle)
  const rest = name.slice(middle)
  const kinds = [
    name.slice(0, -1),
    cut + rest.charAt(0) + rest,
    `${cut}y${rest.slice(1)}`,
    name.charAt(1) + name.charAt(0) + name.slice(2),
  ]
  return kinds.filter((one) => one.length > 1 && one !== name)
}

/** Returns options with only a value at a path. */
function optionsAt(path: readonly string[], value: unknown): unknown {
  const [first, ...rest] = path
  if (first === undefined) return value
  return first === '[]' ? [optionsAt(rest, value)] : { [first]: optionsAt(rest, value) }
}

async function messageOf(call: () => unknown): Promise<string> {
  try {
    await call()
    return 'accepted'
  } catch (error) {
    return error instanceof byref.ByrefError && error.code === 'config_invalid'
      ? error.message
      : `threw ${error}`
  }
}

/** Calls every implementation. All of them must report the same. */
async function all<One>(ones: readonly One[], call: (one: One) => unknown): Promise<never> {
  const messages = new Set(await Promise.all(ones.map((one) => messageOf(() => call(one)))))
  throw new byref.ByrefError('config_invalid', [...messages].join(' AND '))
}

async function wronglyAccepted({ name, at, paths }: OptionFunction): Promise<string[]> {
  const call = CALLS[`${name}[${at}]`] as (options: unknown) => unknown
  const wrong: string[] = []
  for (const path of paths) {
    if (`${name}.${path[0]}`.match(NOT_TAKEN)) continue
    const around = path.slice(0, -1)
    const option = path.at(-1) ?? ''
    const siblings = paths.filter((one) => one.slice(0, -1).join() === around.join())
    for (const typo of misspelt(option)) {
      if (siblings.some((one) => one.at(-1) === typo)) continue
      const message = await messageOf(() => call(optionsAt([...around, typo], 1)))
      const isRight =
        message.startsWith(`Unknown option "${typo}" in `) &&
        /Did you mean (.+)\? Valid options: /.exec(message)?.[1]?.includes(`"${option}"`)
      const valid = message.split('Valid options: ')[1]?.split(', ') ?? []
      const isFacade = name === 'AssetStore.save'
      const isComplete = isFacade || siblings.every((one) => valid.includes(one.at(-1) ?? ''))
      const known = new Set(siblings.map((one) => one.at(-1)))
      if (!isRight || !isComplete || (!isFacade && valid.length > known.size))
        wrong.push(`${[...around, typo].join('.')}: ${message}`)
    }
  }
  return wrong
}

describe('every public function that takes options', () => {
  it('is covered by this test', () => {
    expect(functions.map(({ name, at }) => `${name}[${at}]`).sort()).toEqual(
      Object.keys(CALLS).sort(),
    )
  })

  it('checks all its options, at every depth', () => {
    const all = functions.flatMap(({ name, paths }) =>
      paths.map((path) => [name, ...path].join('.')),
    )
    expect(all.length).toBeGreaterThan(500)
    expect(all).toEqual(
      expect.arrayContaining([
        'createAgent.assets.config.fs.rootDir',
        'createAgent.tools.[].needsApproval',
        'createAgent.capabilities.price.input',
        'createServer.auth.jwks.issuer',
        'byReference.trust.tools.{}.accepts.integrity',
        'Agent.run.label.integrity',
        'ConversationLog.append.lease.owner',
      ]),
    )
  })

  it.each(functions)('rejects misspelt options: $name', async (one) => {
    expect((await wronglyAccepted(one)).join('\n')).toBe('')
  })
})

/** Options that may be anything, or that are checked where they are read, with a specific error. */
const ANYTHING =
  /\.(arguments|attributes|content|context|debug|firstPage|messages|objects|output|parts|requestHandler|result|to|where\.\[\]\.(column|is))$/

describe('every option', () => {
  const typed = functions.flatMap(({ name, at, paths }) =>
    paths
      .filter((path) => !NOT_TAKEN.test(`${name}.${path[0]}`))
      .filter((path) => !ANYTHING.test([name, ...path].join('.')))
      .map((path) => ({ call: `${name}[${at}]`, path })),
  )

  it('has a type', async () => {
    expect(typed.length).toBeGreaterThan(400)
    const untyped: string[] = []
    for (const { call, path } of typed) {
      const given = optionsAt(path, Symbol('of no type')) as never
      const message = await messageOf(() => CALLS[call]?.(given))
      if (!/ must be .*, not a symbol$/.test(message))
        untyped.push(`${call}.${path.join('.')}: ${message}`)
    }
    expect(untyped).toEqual([])
  })
})

describe('mistakes', () => {
  const promised = byref.loadPlugin('info: {title: a, description: b}', {})
  promised.catch(() => {})
  const from = (options: unknown) => options as never
  const cases: [string, () => unknown, string][] = [
    [
      'an approval that is misspelt',
      () => byref.defineTool(from({ ...tool, needApproval: true })),
      'Unknown option "needApproval" in defineTool. Did you mean "needsApproval"? Valid options: id, ',
    ],
    [
      'a tool that nothing executes',
      () => byref.defineTool(from({ ...tool, execute: undefined, excute() {} })),
      'Unknown option "excute" in defineTool. Did you mean "execute"?',
    ],
    [
      'a tool of the provider',
      () => byref.createAgent({ model, tools: [from({ type: 'provider', id: 'openai.x' })] }),
      `createAgent.tools[0] is the provider's tool "openai.x", which agents cannot use. Use it with`,
    ],
    [
      'a tool without a schema',
      () => byref.createAgent({ model, tools: [from({ id: 'a', execute() {} })] }),
      'createAgent.tools[0] needs the option "description": a string',
    ],
    [
      'a path without †',
      () => byref.defineTool(from({ ...tool, outputPath: 'state.x' })),
      'defineTool.outputPath must be true or false or a † path, such as "†state.user", but not of †result, not "state.x"',
    ],
    [
      'a path of results',
      () => byref.defineTool(from({ ...tool, outputPath: '†result' })),
      'defineTool.outputPath must be true or false or a † path',
    ],
    [
      'a parameter of byref',
      () =>
        byref.defineTool(
          from({ ...tool, inputSchema: { type: 'object', properties: { _each: {} } } }),
        ),
      'The tool "a" has a parameter _each, which byref adds to tools',
    ],
    [
      'a name that is a number',
      () => byref.createAgent(from({ model, name: 3 })),
      'createAgent.name must be 1 to 100 letters',
    ],
    [
      'an option of another library for steps',
      () => byref.createAgent(from({ model, maxSteps: 3 })),
      'Did you mean "limits"?',
    ],
    [
      'a limit of another library',
      () => byref.createAgent(from({ model, limits: { maxSteps: 3 } })),
      'Did you mean "steps"?',
    ],
    [
      'a form of assets that there is not',
      () => byref.defineTool(from({ ...tool, inputSchema: parameter({ asset_ref_as: 'byte' }) })),
      'inputSchema of the tool "a".asset_ref_as must be "bytes" or "blob" or',
    ],
    [
      'a keyword that is misspelt',
      () =>
        byref.defineTool(from({ ...tool, inputSchema: parameter({ asset_ref_aceptable: true }) })),
      'Did you mean "asset_ref_acceptable"?',
    ],
    [
      'tools as the AI SDK has them',
      () => byref.createAgent({ model, tools: from({}) }),
      'createAgent.tools must be an array, each item ',
    ],
    [
      'a plugin that is not there yet',
      () => byref.createAgent({ model, plugins: [from(promised)] }),
      'createAgent.plugins[0] must be a plugin, made by loadPlugin, not a promise: await it first',
    ],
    [
      'a backend one level too high',
      () => byref.createAgent({ model, assets: from({ backend: 'fs' }) }),
      'Unknown option "backend" in createAgent.assets. Valid options: config, store',
    ],
    [
      'a folder without a backend, which would be lost',
      () => byref.createAgent({ model, assets: { config: { fs: { rootDir: folder } } } }),
      'There are options for the backend "fs", and no backend is chosen: add backend: "fs"',
    ],
    [
      'an event that there is not',
      () =>
        byref.createAgent({ model, processors: [from({ eventType: 'NEW_MESAGE', process() {} })] }),
      'createAgent.processors[0].eventType must be "NEW_MESSAGE" or ',
    ],
    [
      'a time in words',
      () => byref.createAgent({ model, leaseMs: from('10s') }),
      'createAgent.leaseMs must be a positive number, not "10s"',
    ],
    [
      'a negative time',
      () => byref.createAgent({ model, leaseMs: -1 }),
      'createAgent.leaseMs must be a positive number, not -1',
    ],
    [
      'a server without its auth',
      () => createServer(from({ agent, atuh: { secret: 'x'.repeat(32) } })),
      'Unknown option "atuh" in createServer. Did you mean "auth"?',
    ],
    [
      'a list of agents',
      () => createServer({ agents: from([agent]) }),
      'createServer.agents must be an object of agents by name, such as { writer, gauge }, not an array',
    ],
    [
      'an agent that is none, over MCP',
      () => createMcpServer({ agents: { main: from('main') } }),
      'createMcpServer.agents.main must be an agent, made by createAgent',
    ],
    [
      'agents under other names than theirs',
      () => createChatHandler({ agents: { main: agent } }),
      'createChatHandler.agents.main has no name',
    ],
    [
      'an agent and agents',
      () => createAgUiHandler({ agent, agents: {} }),
      'createAgUiHandler takes "agent" or "agents", not both',
    ],
    [
      'no agent',
      () => createWorker({ queue: createQueue({ pool }) }),
      'createWorker needs an agent: { agent } or { agents: { name: agent } }',
    ],
    [
      'a connection string alone, which is not repeated',
      () => createPostgresLog(from('postgres://user:password@host/db')),
      'createPostgresLog takes an object of options, not a string',
    ],
    [
      'a secret in the wrong place, which is not repeated',
      () => createServer({ agent, auth: from('x'.repeat(32)) }),
      'createServer.auth must be an object of options, not a string',
    ],
    [
      'a store without bodies',
      () => stores.createStore(from({ records: stores.memoryRecords() })),
      'createStore needs the option "bodies": a body store',
    ],
    [
      'a worker without a queue',
      () => createWorker(from({ agent })),
      'createWorker needs the option "queue": a queue, made by createQueue',
    ],
    ['a plugin that is no text', () => byref.loadPlugin(from({}), {}), 'must be a string'],
    ['an alias to nothing', () => byref.loadPlugin('*a', {}), "The plugin's YAML cannot be read"],
    [
      'a query that is misspelt',
      () => assets.query(from({ sqll: 'SELECT 1' })),
      'Unknown option "sqll" in assets.query. Did you mean "sql"?',
    ],
    [
      'an answer that is misspelt',
      () => agent.approve('c', 'call', from({ aproved: true })),
      'Unknown option "aproved" in agent.approve. Did you mean "approved"?',
    ],
    [
      'null for options',
      () => agent.fork('c', from(null)),
      'agent.fork takes an object of options, not null',
    ],
  ]

  function parameter(keywords: object) {
    return { type: 'object', properties: { file: { type: 'string', ...keywords } } }
  }

  it.each(cases)('%s', async (_, call, message) => {
    expect(await messageOf(call)).toContain(message)
  })

  it('text alone is a message', async () => {
    const talking = byref.createAgent({ model: scriptedModel(['Hi', 'Hi']) })
    expect(await talking.run({ messages: 'Hello' }).result).toMatchObject({ text: 'Hi' })
    const { messages } = talking.run({ messages: ['Hello', { content: 'you' }], conversation: 'c' })
    expect(messages).toEqual([])
  })
})
