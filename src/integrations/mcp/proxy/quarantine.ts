import type { AssetTool } from '../../../assets/asset-tools.ts'
import type { Assets } from '../../../assets/assets-contract.ts'
import { editAssetTool } from '../../../assets/edit/edit-asset-tool.ts'
import { queryTablesTool } from '../../../assets/tables/query-tables-tool.ts'
import type { Tool } from '../../../boundary/tool.ts'
import { defined } from '../../../core/defined.ts'
import { ByrefError } from '../../../core/errors.ts'
import { inBackground } from '../../../core/in-background.ts'
import { isPlainObject } from '../../../core/json/json.ts'
import { join, type Label, TRUSTED, UNTRUSTED } from '../../../core/labels/label.ts'
import { redactedText } from '../../../core/labels/redact-value.ts'
import { isAssetRef } from '../../../core/refs/asset-ref.ts'
import { assetTools, runAssetTool } from '../../plain-tools.ts'
import { checkNamed } from '../../trust/tool-trust.ts'
import { failedCall, textBlock } from '../assets-for-clients.ts'
import { labelMeta, stricterByMeta } from '../mcp-labels.ts'
import {
  answerTo,
  CLIENT_CAPABILITIES,
  type Fields,
  failureOf,
  INTERNAL_ERROR,
  METHOD_NOT_FOUND,
  ProtocolError,
  type RpcMessage,
  readPages,
} from '../rpc/json-rpc.ts'
import type { FromServer, Handler, Peers } from '../rpc/relay.ts'
import { type ProxyCall, type ProxySession, ProxyTools, type ProxyView } from './proxy-tools.ts'
import { redactResult } from './redact-result.ts'

/** The guide that is added to a server's instructions. */
const GUIDE =
  'Results of tools are not shown. You get a reference, asset://…, instead. Pass it, or one field of it as asset://…/content/KEY, as a parameter of any tool. Inside a text, write <|asset://…|>.'

/** Tools that make assets. */
const MAKING: ReadonlySet<AssetTool> = new Set([queryTablesTool, editAssetTool])

const NOT_SHOWN = new ByrefError('tool_failed', 'The error text of the server is not shown')
const NOT_PASSED = { code: METHOD_NOT_FOUND, message: 'This method is not available in quarantine' }

/**
 * Returns the view of a client in quarantine. It sees the server's first description of itself, and references in place
 * of results. Messages that the server sends on its own are not passed on.
 */
export function quarantineView(session: ProxySession): ProxyView {
  const resources = new NamedResources()
  const progress = new ProgressCounter()
  const tools = new ProxyTools(session, {
    isQuarantine: true,
    added: assetTools(session.editing).filter((tool) => MAKING.has(tool)),
    read: make,
    failed: failureHere,
    shown,
  })

  /** Answers with a reference to the result of a call. */
  async function shown(answer: RpcMessage, { request, name, tool, label }: ProxyCall) {
    const result = resultOf(answer)
    const isError = result.isError === true
    const of = { label, tool: isError ? undefined : tool }
    const { ref, text, _meta } = await redacted(result, `${name} result`, of)
    if (isError) {
      const words = `${NOT_SHOWN.code}: ${NOT_SHOWN.message}: ${text}`
      return answerTo(request, { content: [textBlock(words)], isError, _meta })
    }
    const data = { structuredContent: { assetRef: ref, offloaded: true } }
    const isData = tool?.outputSchema && ref !== undefined
    return answerTo(request, { content: [textBlock(text)], ...(isData ? data : {}), _meta })
  }

  async function redacted(
    result: Fields,
    name: string,
    { label, tool }: { label: Label; tool?: Tool } = { label: TRUSTED },
  ) {
    const all = join(stricterByMeta(UNTRUSTED, result._meta), label)
    const save = session.save(all)
    const made = await redactResult(result, { save: (body) => save(body, name), tool })
    return { ...made, _meta: labelMeta(all) }
  }

  const initialized = pinned(describedServer)
  const handlers: Record<string, Handler> = {
    initialize(request, peers) {
      tools.asker.noteCapabilities(request)
      return initialized(request, peers)
    },
    'server/discover': pinned(describedServer),
    'tools/list': tools.list,
    'tools/call': tools.call,
    'prompts/list': pinned(({ prompts = [] }) => ({ prompts })),
    async 'prompts/get'(request, peers) {
      const { text, _meta } = await redacted(await ask(request, peers), 'prompt')
      const messages = [{ role: 'user', content: textBlock(text) }]
      return answerTo(request, { messages, _meta })
    },
    'resources/templates/list': pinned(({ resourceTemplates = [] }) => ({ resourceTemplates })),
    async 'resources/list'(request, peers) {
      const { items } = await readPages(request, peers.ask, 'resources')
      return answerTo(request, { resources: resources.list(items) })
    },
    async 'resources/read'(request, peers) {
      const { uri } = Object(request.params)
      if (isAssetRef(uri)) throw new ShownError('The content of assets is not shown')
      const result = await ask(resources.toServer(request), peers)
      const { text, _meta } = await redacted(result, 'resource')
      return answerTo(request, { contents: [{ uri, mimeType: 'text/plain', text }], _meta })
    },
    'resources/subscribe': confirm((request) => resources.subscribe(request)),
    'resources/unsubscribe': confirm((request) => resources.toServer(request)),
    ping: confirm((request) => request),
  }

  return {
    handlers: Object.fromEntries(
      Object.entries(handlers).map(([name, one]) => [name, progress.during(guarded(one))]),
    ),
    otherwise: async (request) => failureOf(request, NOT_PASSED),
    fromServer(message, peers) {
      const { id, method, params } = message
      if (id !== undefined) inBackground('Answering a server', answerServer(message, peers))
      else if (method === 'notifications/progress') return progress.next(params)
      else if (method === 'notifications/resources/updated') return resources.updated(params)
      else if (method === 'notifications/resources/list_changed') return { jsonrpc: '2.0', method }
      return null
    },
  }
}

/** Runs a tool, and answers with the reference of the table or the version that it made. */
async function make(
  tool: AssetTool,
  { written, label, signal }: ProxyCall,
  assets: Assets,
): Promise<Fields> {
  try {
    checkNamed(tool.id, written)
    const { assetRef } = Object(await runAssetTool(tool, written, { assets, signal }))
    const { size } = await assets.info(String(assetRef))
    const text = redactedText(assetRef, { assetRef, kind: 'file', size })
    return { content: [textBlock(text)], _meta: labelMeta(join(UNTRUSTED, label)) }
  } catch (error) {
    return failedCall(failureHere(error))
  }
}

async function ask(request: RpcMessage, peers: Peers): Promise<Fields> {
  return resultOf(await peers.ask(request))
}

/** Answers with the first result of a method. Later results of the server are ignored. */
function pinned(pick: (result: Fields) => Fields): Handler {
  let first: Promise<Fields> | null = null
  return async (request, peers) => {
    first ??= ask(request, peers).then(pick)
    first.catch(() => {
      first = null
    })
    return answerTo(request, await first)
  }
}

/** Forwards a request. The answer says only that it succeeded. */
function confirm(toServer: (request: RpcMessage) => RpcMessage): Handler {
  return async (request, peers) => {
    await ask(toServer(request), peers)
    return answerTo(request, {})
  }
}

/** An error whose message contains no text of the server. */
class ShownError extends ProtocolError {}

/**
 * Keeps a handler's requests from giving the server means to ask, and replaces the text of errors with byref's own. Of
 * the server's errors, only a code of the protocol is passed on.
 */
function guarded(handler: Handler): Handler {
  return (request, peers) =>
    handler(request, { ...peers, ask: (one) => peers.ask(withoutAsking(one)) }).catch((error) =>
      failureOf(request, shownError(error, peers)),
    )
}

/** Codes of errors that the protocol defines. Other numbers come from the server and are not shown. */
const CODES = new Set([-32700, -32600, -32601, -32602, -32603, -32002, -32042, -32022])

function shownError(error: unknown, { whyEnded }: Peers): ShownError {
  if (error instanceof ShownError) return error
  const { code: given } = Object(error)
  const code = CODES.has(given) ? given : INTERNAL_ERROR
  const own = error instanceof ByrefError ? `byref could not answer (${error.code})` : whyEnded()
  return new ShownError(own ?? NO_RESULT, { code })
}

const NO_RESULT = 'The server answered with an error, or not at all. Its text is not shown'

function resultOf({ result, error }: RpcMessage): Fields {
  if (!isPlainObject(result)) throw error
  const { resultType = 'complete' } = result
  if (resultType === 'complete') return result
  throw new ShownError(
    'The server asked for more input before it answers. Such requests are not passed on in quarantine',
  )
}

/** Returns the error of a call that was not sent. The original message may reveal what an asset contains. */
function failureHere(error: unknown): ByrefError {
  if (!(error instanceof ByrefError)) return NOT_SHOWN
  if (error.code === 'flow_denied') return error
  const message =
    'A reference does not exist or does not fit here. Details are not shown in quarantine'
  return new ByrefError(error.code, message)
}

/** Answers a request of the server. The server learns only the client's roots, and that the client is alive. */
async function answerServer(request: RpcMessage, { askClient, answer }: FromServer): Promise<void> {
  const { id, method } = request
  if (method === 'ping') answer({ jsonrpc: '2.0', id, result: {} })
  else if (method === 'roots/list') answer({ ...(await askClient({ jsonrpc: '2.0', method })), id })
  else answer(failureOf(request, NOT_PASSED))
}

/** Replaces progress by a counter, because the server's numbers and texts are not passed on. */
class ProgressCounter {
  readonly #counts = new Map<unknown, number>()

  /** Counts progress while the handler runs. */
  during(handler: Handler): Handler {
    return async (request, peers) => {
      const { progressToken } = Object(request.params?._meta)
      if (progressToken !== undefined) this.#counts.set(progressToken, 0)
      return handler(request, peers).finally(() => this.#counts.delete(progressToken))
    }
  }

  /** Returns the notification for the client. Null if the request is not running. */
  next(params: unknown): RpcMessage | null {
    const { progressToken } = Object(params)
    const before = this.#counts.get(progressToken)
    if (before === undefined) return null
    const progress = before + 1
    this.#counts.set(progressToken, progress)
    return { jsonrpc: '2.0', method: 'notifications/progress', params: { progressToken, progress } }
  }
}

const SCHEME = 'byref-resource:'

/** The resources of a server under neutral names: their own names and addresses are untrusted. */
class NamedResources {
  readonly #addresses: string[] = []
  /** The address that the client knows, by the server's. */
  readonly #subscribed = new Map<unknown, string>()

  /** Returns a list for the client. */
  list(resources: readonly unknown[]): Fields[] {
    return resources.flatMap((one) => {
      if (!isPlainObject(one) || typeof one.uri !== 'string') return []
      if (!this.#addresses.includes(one.uri)) this.#addresses.push(one.uri)
      const number = this.#addresses.indexOf(one.uri) + 1
      return { uri: `${SCHEME}${number}`, name: `untrusted resource ${number}` }
    })
  }

  /** Returns a request with the server's address. */
  toServer(request: RpcMessage): RpcMessage {
    const given = String(request.params?.uri)
    const number = given.startsWith(SCHEME) ? Number(given.slice(SCHEME.length)) : 0
    const uri = this.#addresses[number - 1]
    return uri === undefined ? request : { ...request, params: { ...request.params, uri } }
  }

  /** Returns a subscription request with the server's address. */
  subscribe(request: RpcMessage): RpcMessage {
    const made = this.toServer(request)
    this.#subscribed.set(made.params?.uri, String(request.params?.uri))
    return made
  }

  /** Returns the notification of a change, for the client. Null for a resource without a subscription. */
  updated(params: unknown): RpcMessage | null {
    const uri = this.#subscribed.get(Object(params).uri)
    if (uri === undefined) return null
    return { jsonrpc: '2.0', method: 'notifications/resources/updated', params: { uri } }
  }
}

/**
 * Returns a request without the means to ask the client's model or person, and without tasks. Only roots remain of
 * the client's capabilities.
 */
function withoutAsking(request: RpcMessage): RpcMessage {
  if (request.params === undefined) return request
  const { capabilities, _meta, task, requestState, inputResponses, ...params } = request.params
  const declared = Object(_meta)[CLIENT_CAPABILITIES]
  const meta =
    declared === undefined ? _meta : { ...Object(_meta), [CLIENT_CAPABILITIES]: rootsOf(declared) }
  const roots = capabilities === undefined ? undefined : rootsOf(capabilities)
  return { ...request, params: defined({ ...params, capabilities: roots, _meta: meta }) }
}

function rootsOf(capabilities: unknown): Fields {
  return defined({ roots: Object(capabilities).roots })
}

const VERSION = /^\d{4}-\d\d-\d\d$/
const isVersion = (one: unknown): boolean => typeof one === 'string' && VERSION.test(one)

/** Returns a server's first description of itself: its author's words, without capabilities that ask for more. */
function describedServer(result: Fields): Fields {
  const { protocolVersion, supportedVersions, serverInfo, instructions } = result
  const has = Object(result.capabilities)
  const { name = 'server', title, version = '' } = Object(serverInfo)
  const words = [instructions, GUIDE].filter((one) => typeof one === 'string' && one !== '')
  const resources = Object(has.resources).subscribe === true ? { subscribe: true } : {}
  return defined({
    protocolVersion: isVersion(protocolVersion) ? protocolVersion : undefined,
    supportedVersions: Array.isArray(supportedVersions)
      ? supportedVersions.filter(isVersion)
      : undefined,
    serverInfo: defined({ name, version, title }),
    capabilities: defined({ tools: {}, resources, prompts: has.prompts ? {} : undefined }),
    instructions: words.join('\n\n'),
  })
}
