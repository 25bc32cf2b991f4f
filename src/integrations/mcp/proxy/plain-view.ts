import { isPlainObject } from '../../../core/json/json.ts'
import { join, type Label, TRUSTED, UNTRUSTED } from '../../../core/labels/label.ts'
import { isAssetRef } from '../../../core/refs/asset-ref.ts'
import { assetTools } from '../../plain-tools.ts'
import { labelOfCall } from '../../trust/session-labels.ts'
import { checkNamed } from '../../trust/tool-trust.ts'
import {
  ASSET_TEMPLATE,
  assetAsResource,
  callAssetTool,
  READING_TOOLS,
} from '../assets-for-clients.ts'
import { stricterByMeta, withLabel } from '../mcp-labels.ts'
import { answerTo, failureOf, isUnknownMethod, type RpcMessage } from '../rpc/json-rpc.ts'
import type { Ask, Handler, Peers } from '../rpc/relay.ts'
import { type ProxyCall, type ProxySession, ProxyTools, type ProxyView } from './proxy-tools.ts'
import { type ShortenOptions, shortenResult } from './shorten-result.ts'

/** The guide that is added to a server's instructions. */
const GUIDE =
  'Large results are stored as assets. Pass their references, asset://…, as parameters of any tool instead of copying the values.'

/** Methods whose answers are written by the author of the server, or are empty. */
const AUTHORED = /^(ping|prompts\/list|logging\/setLevel|resources\/(un)?subscribe)$/

/** Messages of a server that hold no text from what it reads. */
const WORDLESS = /^(ping|roots\/list|notifications\/.*list_changed|notifications\/cancelled)$/

/** How the client sees values. */
type Limits = Omit<ShortenOptions, 'save' | 'readingTools'>

/**
 * The view of a client that sees values. Large ones become references. With trust on, the session records the label of
 * everything that the client sees.
 */
export class PlainView implements ProxyView {
  readonly handlers: ProxyView['handlers']
  /** With trust on, everything else that the server answers is seen, too. */
  readonly otherwise?: Handler
  readonly #session: ProxySession
  readonly #limits: Limits
  readonly #tools: ProxyTools

  constructor(session: ProxySession, limits: Limits) {
    this.#session = session
    this.#limits = limits
    this.#tools = new ProxyTools(session, {
      isQuarantine: false,
      added: assetTools(session.editing),
      async read(tool, { written, label, signal }) {
        const { labels } = session
        if (labels) checkNamed(tool.id, written)
        labels?.showWhole(label)
        return callAssetTool(tool, written, { assets: session.assetsFor(label), signal })
      },
      shown: (answer, { name, ...call }) => this.#short(answer, `${name} result`, call),
      failed: (error) => error,
    })
    this.handlers = this.#handlers()
    if (session.labels) this.otherwise = (request, { ask }) => this.#passed(request, ask)
  }

  readonly fromServer: ProxyView['fromServer'] = (message) => {
    const { method = '', params } = message
    if (method === 'notifications/tools/list_changed') {
      this.#tools.changed()
      if (this.#tools.isSearched) return null
    }
    const isSilent = method === 'notifications/progress' && Object(params).message === undefined
    if (!isSilent && !WORDLESS.test(method)) this.#session.labels?.showWhole(UNTRUSTED)
    return message
  }

  #handlers(): ProxyView['handlers'] {
    const tools = this.#tools
    const introduced: Handler = async (request, { ask }) => {
      tools.noteCapabilities(request)
      return withGuide(await ask(request))
    }
    /** Answers with the server's result, shortened. */
    const short = (kind: string): Handler => {
      return async (request, { ask }) => {
        const name = `${Object(request.params).name ?? ''} ${kind}`.trim()
        return this.#short(await ask(request), name)
      }
    }
    return {
      initialize: introduced,
      'server/discover': introduced,
      'tools/list': tools.list,
      'tools/call': tools.call,
      'tasks/result': short('task result'),
      'tasks/get': async (request, { ask }) => this.#withTask(await ask(request)),
      'prompts/get': short('prompt'),
      'resources/list': async (request, { ask }) => {
        const answer = await ask(request)
        if (Object(answer.result?.resources).length > 0) this.#seen(answer)
        return listed(answer, request, 'resources', [])
      },
      'resources/templates/list': async (request, { ask }) =>
        listed(await ask(request), request, 'resourceTemplates', [ASSET_TEMPLATE]),
      'resources/read': (request, peers) => this.#resource(request, peers, short('resource')),
    }
  }

  async #passed(request: RpcMessage, ask: Ask): Promise<RpcMessage> {
    const answer = await ask(request)
    const isAuthored = AUTHORED.test(request.method ?? '') && isPlainObject(answer.result)
    if (!isAuthored) this.#seen(answer)
    return answer
  }

  /** Notes that the client sees an answer. Returns the label of the answer. */
  #seen({ result }: RpcMessage, { tool, label = TRUSTED }: Partial<ProxyCall> = {}): Label {
    const own = tool?.openWorld === false && result ? TRUSTED : UNTRUSTED
    const all = stricterByMeta(join(own, label), result?._meta)
    this.#session.labels?.showWhole(all)
    return all
  }

  /** Notes that the client sees an answer, and returns it with references in place of large values. */
  async #short(answer: RpcMessage, name: string, call?: Partial<ProxyCall>): Promise<RpcMessage> {
    return this.#shortened(answer, name, this.#seen(answer, call))
  }

  async #shortened(answer: RpcMessage, name: string, label: Label): Promise<RpcMessage> {
    if (!answer.result) return answer
    const { labels, save } = this.#session
    const given = labels ? withLabel(answer.result, label) : answer.result
    const { readingTools = READING_TOOLS } = (await this.#tools.known()) ?? {}
    const options = { ...this.#limits, save: save(label), readingTools }
    // If storing fails, for example on a full disk, the result passes unchanged.
    const result = await shortenResult(given, name, options).catch(() => given)
    return result === answer.result ? answer : { ...answer, result }
  }

  /** Returns the state of a task, which holds the result of its call. */
  async #withTask(answer: RpcMessage): Promise<RpcMessage> {
    const { result } = answer
    const label = this.#seen(answer)
    if (!isPlainObject(result?.result)) return answer
    const inner = await this.#shortened({ ...answer, result: result.result }, 'task result', label)
    return { ...answer, result: { ...result, result: inner.result } }
  }

  async #resource(request: RpcMessage, peers: Peers, readFromServer: Handler): Promise<RpcMessage> {
    const { assets, labels } = this.#session
    const uri = String(request.params?.uri)
    if (!isAssetRef(uri)) return readFromServer(request, peers)
    labels?.showWhole(labelOfCall({ context: TRUSTED, reads: labels.reads({ uri }) }))
    try {
      return answerTo(request, await assetAsResource(assets, uri))
    } catch (error) {
      // The server may have addresses of this form, too.
      const answer = await peers.ask(request)
      return answer.error ? failureOf(request, error) : answer
    }
  }
}

/** Returns a server's description of itself, with the guide and what is added to the server. */
function withGuide(answer: RpcMessage): RpcMessage {
  const { result } = answer
  if (!isPlainObject(result?.capabilities)) return answer
  const capabilities = { tools: {}, resources: {}, ...result.capabilities }
  const instructions = [result.instructions, GUIDE].filter(Boolean).join('\n\n')
  return { ...answer, result: { ...result, capabilities, instructions } }
}

/** Returns a list of the server with more items after its last page. A server without such a list has an empty one. */
function listed(answer: RpcMessage, request: RpcMessage, key: string, more: unknown[]): RpcMessage {
  if (isUnknownMethod(answer)) return answerTo(request, { [key]: more })
  const { result } = answer
  if (!Array.isArray(result?.[key]) || result.nextCursor || more.length === 0) return answer
  return { ...answer, result: { ...result, [key]: [...result[key], ...more] } }
}
