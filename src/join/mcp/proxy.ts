import type { AssetTool } from '../../assets/asset-tools.ts'
import type { Assets } from '../../assets/assets-contract.ts'
import { isPlainObject } from '../../content/json.ts'
import { isAssetRef } from '../../refs/asset-ref.ts'
import { assetAsResource } from './asset-resource.ts'
import {
  type Channel,
  type Fields,
  INTERNAL_ERROR,
  METHOD_NOT_FOUND,
  type RpcMessage,
} from './json-rpc.ts'
import { type LargeBlocks, withoutLargeBlocks } from './large-blocks.ts'
import { callReadingTool, describeTool, failedCall, readingTools } from './reading-tools.ts'
import {
  resolveReferences,
  shownTakingReferences,
  takingReferences,
} from './reference-arguments.ts'

/** Options of {@link proxyMcp}. */
export interface ProxyOptions extends Partial<Omit<LargeBlocks, 'assets' | 'readingTools'>> {
  assets: Assets
  /** Why the server ended, for those whose requests it did not answer. */
  whyEnded?(): string
}

/** What the proxy adds to a server's instructions. */
const GUIDE =
  'Large results are kept as assets, and asset://… stands for them: pass it as a parameter of any tool instead of writing the value out.'

const TEMPLATE = {
  uriTemplate: 'asset://{id}',
  name: 'asset',
  title: 'Large results, by reference',
}

/** What the tools of the server are, by their names, and those that the proxy adds, by the names that are free. */
interface Catalog {
  list: Fields
  tools: Map<string, Fields>
  own: Map<string, AssetTool>
}

/**
 * Stands between a client and an MCP server, message by message, whatever version of the protocol they speak: large results
 * become references, parameters take them, tools to read them are added. Everything else passes as it came.
 * Resolves when one of the two has ended and the other is closed, with which it was.
 */
export async function proxyMcp(
  client: Channel,
  server: Channel,
  options: ProxyOptions,
): Promise<'client' | 'server'> {
  const { assets, maxChars = 32_768, maxBytes = 4_096, showImages = false, expiresAt } = options
  const native = readingTools()
  /** Requests that the server has not answered, and those that are worked on here. */
  const asked = new Map<unknown, (answer: RpcMessage) => void>()
  const working = new Map<unknown, AbortController>()
  const unsent = new Set<Promise<void>>()
  let catalog: Promise<Catalog> | null = null
  let count = 0

  function ask(request: RpcMessage): Promise<RpcMessage> {
    const { promise, resolve } = Promise.withResolvers<RpcMessage>()
    asked.set(request.id, resolve)
    server.send(request).catch((error: Error) => resolve(failure(request, error.message)))
    return promise
  }

  /** All tools of the server, whose pages are one here, so that no name is taken twice. */
  async function readCatalog({ params }: RpcMessage): Promise<Catalog> {
    const { _meta, ...rest } = Object(params)
    // Progress and the like are of the client's own request.
    const { progressToken: _, ...meta } = Object(_meta)
    const found: Fields[] = []
    let list: Fields = empty('tools')
    for (let cursor: unknown = rest.cursor; ; ) {
      const asking = { ...(cursor ? { cursor } : {}), ...(_meta ? { _meta: meta } : {}) }
      const { result, error } = await ask({
        jsonrpc: '2.0',
        id: `byref-${++count}`,
        method: 'tools/list',
        params: asking,
      })
      if (error && error.code !== METHOD_NOT_FOUND) throw error
      const { tools, nextCursor, ...others } = result ?? list
      if (cursor === undefined) list = others
      found.push(...(tools as Fields[]))
      cursor = nextCursor
      if (!cursor) break
    }
    const tools = new Map(found.map((tool) => [String(tool.name), tool]))
    const own = new Map(native.map((tool) => [freeName(tool.id, tools), tool]))
    const described = [...own].map(([name, tool]) => describeTool(tool, name))
    return { list: { ...list, tools: [...found.map(shownTool), ...described] }, tools, own }
  }

  function currentCatalog(request: RpcMessage): Promise<Catalog> {
    catalog ??= readCatalog(request)
    const current = catalog
    current.catch(() => {
      if (catalog === current) catalog = null
    })
    return current
  }

  async function shortened(
    answer: RpcMessage,
    request: RpcMessage,
    name: string,
  ): Promise<RpcMessage> {
    if (!answer.result) return answer
    const names = [...((await catalog)?.own ?? new Map(native.map((tool) => [tool.id, tool])))]
    const named = (id: string): string => names.find(([, tool]) => tool.id === id)?.[0] ?? id
    const reading = { fetch: named('fetch_asset'), search: named('search_asset') }
    const how = { assets, maxChars, maxBytes, showImages, expiresAt, readingTools: reading }
    const result = await withoutLargeBlocks(answer.result, name, how)
    return result === answer.result ? answer : { jsonrpc: '2.0', id: request.id, result }
  }

  async function callTool(request: RpcMessage, signal: AbortSignal): Promise<RpcMessage> {
    const { name, arguments: args } = Object(request.params)
    const { tools, own } = await currentCatalog(request)
    const input = isPlainObject(args) ? args : {}
    const reading = own.get(name)
    if (reading) return answer(request, await callReadingTool(reading, input, { assets, signal }))
    const schema = tools.get(name)?.inputSchema
    let resolved = input
    try {
      if (isPlainObject(schema))
        resolved = await resolveReferences(input, markedSchema(schema), assets)
    } catch (error) {
      return answer(request, failedCall(error))
    }
    signal.throwIfAborted()
    const changed = { ...request, params: { ...request.params, arguments: resolved } }
    return shortened(await ask(resolved === input ? request : changed), request, `${name} result`)
  }

  /** Requests whose answers are not what the server says alone. */
  const handlers: Record<
    string,
    (request: RpcMessage, signal: AbortSignal) => Promise<RpcMessage>
  > = {
    initialize: async (request) => withOurs(await ask(request)),
    'server/discover': async (request) => withOurs(await ask(request)),
    'tools/list': async (request) => {
      catalog = null
      return answer(request, (await currentCatalog(request)).list)
    },
    'tools/call': callTool,
    'tasks/result': async (request) => shortened(await ask(request), request, 'task result'),
    'prompts/get': async (request) =>
      shortened(await ask(request), request, `${Object(request.params).name} prompt`),
    'resources/list': async (request) => orEmpty(await ask(request), request, 'resources'),
    'resources/templates/list': async (request) => {
      const { result, ...rest } = await orEmpty(await ask(request), request, 'resourceTemplates')
      if (!result || result.nextCursor) return { ...rest, result }
      return {
        ...rest,
        result: { ...result, resourceTemplates: [...(result.resourceTemplates as []), TEMPLATE] },
      }
    },
    'resources/read': async (request) => {
      const { uri } = Object(request.params)
      if (!isAssetRef(uri)) return shortened(await ask(request), request, 'resource')
      return answer(request, await assetAsResource(assets, uri))
    },
  }

  async function handle(request: RpcMessage, handler: (typeof handlers)[string]): Promise<void> {
    const controller = new AbortController()
    working.set(request.id, controller)
    const answered = await handler(request, controller.signal).catch((error) =>
      failure(request, error.message, error.code),
    )
    working.delete(request.id)
    if (!controller.signal.aborted) await client.send(answered)
  }

  client.onmessage = (message) => {
    const { id, method = '', params } = message
    const handler = id !== undefined && Object.hasOwn(handlers, method) ? handlers[method] : null
    if (handler) {
      const work = handle(message, handler).finally(() => unsent.delete(work))
      return void unsent.add(work)
    }
    if (id !== undefined && method) asked.set(id, (answered) => client.send(answered))
    if (method === 'notifications/cancelled') {
      const { requestId } = Object(params)
      const waiting = asked.get(requestId)
      asked.delete(requestId)
      const controller = working.get(requestId)
      controller?.abort()
      if (controller) waiting?.(failure(message, 'cancelled'))
      // What the server never was asked it need not be told to leave.
      if (!waiting) return
    }
    server.send(message).catch((error: Error) => {
      if (id === undefined || !method) return
      asked.delete(id)
      void client.send(failure(message, error.message))
    })
  }
  server.onmessage = (message) => {
    const { id, method } = message
    const waiting = method === undefined ? asked.get(id) : undefined
    if (method === 'notifications/tools/list_changed') catalog = null
    if (!waiting) return void (method === undefined ? null : client.send(message))
    asked.delete(id)
    waiting(message)
  }

  const ended = new Promise<'client' | 'server'>((resolve) => {
    client.onclose = () => resolve('client')
    server.onclose = () => resolve('server')
  })
  await Promise.all([server.start(), client.start()])
  if ((await ended) === 'client') {
    await server.close()
    return 'client'
  }
  const why = options.whyEnded?.() ?? 'The MCP server has ended'
  for (const [id, waiting] of asked) waiting(failure({ jsonrpc: '2.0', id } as RpcMessage, why))
  await Promise.all(unsent)
  await client.close()
  return 'server'
}

const marked = new WeakMap<object, Record<string, unknown>>()

function markedSchema(schema: Record<string, unknown>): Record<string, unknown> {
  const known = marked.get(schema) ?? takingReferences(schema)
  marked.set(schema, known)
  return known
}

/** A tool as the client is shown it. */
function shownTool(tool: Fields): Fields {
  const { name, inputSchema, outputSchema } = tool
  const shown: Record<string, unknown> = { ...tool }
  if (isPlainObject(inputSchema))
    shown.inputSchema = shownTakingReferences(String(name), inputSchema)
  if (isPlainObject(outputSchema)) shown.outputSchema = orReference(outputSchema)
  return shown
}

/** Structured content may be a reference now. What a schema refers to by its place stays where it was, or it promises nothing. */
function orReference(schema: Record<string, unknown>): Fields | undefined {
  const { $schema, $defs, definitions, ...rest } = schema
  if (/"\$ref":"#(?!\/\$defs\/|\/definitions\/)/.test(JSON.stringify(schema))) return undefined
  const said = Object.entries({ $schema, $defs, definitions, type: rest.type })
  return {
    ...Object.fromEntries(
      said.filter(([key, value]) => value !== undefined && (key !== 'type' || value === 'object')),
    ),
    anyOf: [rest, SPILLED],
  }
}

const SPILLED = {
  type: 'object',
  properties: { assetRef: { type: 'string' }, spilled: { const: true } },
  required: ['assetRef', 'spilled'],
}

function freeName(id: string, taken: ReadonlyMap<string, unknown>): string {
  let name = id
  while (taken.has(name)) name = `byref_${name}`
  return name
}

function answer({ id, params }: RpcMessage, result: Fields): RpcMessage {
  // Since 2026-07-28 requests say their version, and results their type.
  const isNew =
    Object(Object(params)._meta)['io.modelcontextprotocol/protocolVersion'] !== undefined
  const told = isNew ? { resultType: 'complete', ttlMs: 0, cacheScope: 'private' } : {}
  return { jsonrpc: '2.0', id, result: { ...told, ...result } }
}

function failure({ id }: RpcMessage, message: string, code: unknown = INTERNAL_ERROR): RpcMessage {
  return {
    jsonrpc: '2.0',
    id,
    error: { code: Number.isInteger(code) ? (code as number) : INTERNAL_ERROR, message },
  }
}

function empty(key: string): Fields {
  return { [key]: [] }
}

/** A server without what a list is of has none of them. */
function orEmpty(answered: RpcMessage, request: RpcMessage, key: string): RpcMessage {
  return answered.error?.code === METHOD_NOT_FOUND ? answer(request, empty(key)) : answered
}

/** What a server says of itself, with what is here beside it. */
function withOurs(answered: RpcMessage): RpcMessage {
  const { result } = answered
  if (!isPlainObject(result?.capabilities)) return answered
  const capabilities = { tools: {}, resources: {}, ...result.capabilities }
  const instructions = [result.instructions, GUIDE].filter(Boolean).join('\n\n')
  return { ...answered, result: { ...result, capabilities, instructions } }
}
