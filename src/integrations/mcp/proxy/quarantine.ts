import type { AssetTool } from '../../../assets/asset-tools.ts'
import { queryTablesTool } from '../../../assets/tables/query-tables-tool.ts'
import type { Tool } from '../../../boundary/tool.ts'
import { ByrefError } from '../../../core/errors.ts'
import { inBackground } from '../../../core/in-background.ts'
import { isPlainObject } from '../../../core/json/json.ts'
import { join, type Label, TRUSTED, UNTRUSTED } from '../../../core/labels/label.ts'
import { redactedText } from '../../../core/labels/redact-value.ts'
import { isAssetRef } from '../../../core/refs/asset-ref.ts'
import { metaOf, stricterByMeta } from '../label-meta.ts'
import { failedCall, readingTools } from '../reading-tools.ts'
import { answerTo, type Fields, failureOf, type RpcMessage } from '../rpc/json-rpc.ts'
import type { FromServer, Handler, Help } from '../rpc/relay.ts'
import { NamedResources } from './named-resources.ts'
import { type ProxyCall, type ProxySession, ProxyTools, type ProxyView } from './proxy-tools.ts'
import { redactResult } from './redact-result.ts'
import { describedServer, knownCode, withoutAsking } from './server-words.ts'
import { readPages } from './tool-catalog.ts'

/** The guide that is added to a server's instructions. */
const GUIDE =
  'What the tools give is not shown: asset://… stands for it. Pass it, or a field of it as asset://…/content/KEY, as a parameter of any tool; within a text write <|asset://…|>.'

const NOT_SHOWN = new ByrefError('tool_failed', 'What the server says of it is not shown')
const NOT_PASSED = { code: -32601, message: 'This is not passed on in quarantine' }

/**
 * The view of a client in quarantine. It sees the server's first description of itself, and references in place of results.
 * Nothing that the server sends unasked passes.
 */
export function quarantineView({ assets, labels, save }: ProxySession): ProxyView {
  const resources = new NamedResources()
  const progress = new ProgressCounter()
  const first = new Map<string, Promise<Fields>>()
  const tools = new ProxyTools({
    assets,
    labels,
    isQuarantine: true,
    added: readingTools().filter(({ id }) => id === queryTablesTool.id),
    toServer: withoutAsking,
    read,
    failed: failureHere,
    async shown(answer, { request, name, tool, label }) {
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
    },
  })

  async function redacted(
    result: Fields,
    name: string,
    { label, tool }: { label: Label; tool?: Tool } = { label: TRUSTED },
  ) {
    const all = join(stricterByMeta(UNTRUSTED, result._meta), label)
    const saveAll = save(all)
    const made = await redactResult(result, { save: (body) => saveAll(body, name), tool })
    return { ...made, _meta: metaOf(all) }
  }

  /** `query_tables` returns a reference to its table. */
  async function read(tool: AssetTool, { written, label, signal }: ProxyCall) {
    try {
      const { assetRef } = Object(await tool.execute(written, { assets, signal }))
      const { size } = await assets.info(String(assetRef))
      const text = redactedText(assetRef, { assetRef, kind: 'file', size })
      return { content: [textBlock(text)], _meta: metaOf(join(UNTRUSTED, label)) }
    } catch (error) {
      return failedCall(failureHere(error))
    }
  }

  async function ask(request: RpcMessage, help: Help): Promise<Fields> {
    return resultOf(await help.ask(withoutAsking(request)))
  }

  /** Answers with the first result of a method. What the server says later changes nothing. */
  function pinned(pick: (result: Fields) => Fields): Handler {
    return async (request, help) => {
      const method = String(request.method)
      const result = first.get(method) ?? ask(request, help).then(pick)
      first.set(method, result)
      result.catch(() => first.delete(method))
      return answerTo(request, await result)
    }
  }

  /** Answers that a request is done, and nothing else. */
  const done = (toServer: (request: RpcMessage) => RpcMessage): Handler => {
    return async (request, help) => {
      await ask(toServer(request), help)
      return answerTo(request, {})
    }
  }

  const described = pinned((result) => describedServer(result, GUIDE))
  const handlers: Record<string, Handler> = {
    initialize(request, help) {
      tools.hear(request)
      return described(request, help)
    },
    'server/discover': described,
    'tools/list': tools.list,
    'tools/call': tools.call,
    'prompts/list': pinned(({ prompts = [] }) => ({ prompts })),
    'resources/templates/list': pinned(({ resourceTemplates = [] }) => ({ resourceTemplates })),
    async 'resources/list'(request, help) {
      const { items } = await readPages(withoutAsking(request), help.ask, 'resources')
      return answerTo(request, { resources: resources.list(items) })
    },
    async 'resources/read'(request, help) {
      const { uri } = Object(request.params)
      if (isAssetRef(uri)) throw new ShownError('What an asset holds is not shown')
      const result = await ask(resources.toServer(request), help)
      const { text, _meta } = await redacted(result, 'resource')
      return answerTo(request, { contents: [{ uri, mimeType: 'text/plain', text }], _meta })
    },
    async 'prompts/get'(request, help) {
      const { text, _meta } = await redacted(await ask(request, help), 'prompt')
      return answerTo(request, { messages: [{ role: 'user', content: textBlock(text) }], _meta })
    },
    'resources/subscribe': done((request) => resources.subscribe(request)),
    'resources/unsubscribe': done((request) => resources.toServer(request)),
    ping: done((request) => request),
  }

  return {
    handlers: Object.fromEntries(
      Object.entries(handlers).map(([method, handler]) => [
        method,
        progress.during(inOurWords(handler)),
      ]),
    ),
    otherwise: async (request) => failureOf(request, NOT_PASSED),
    fromServer(message, help) {
      const { id, method, params } = message
      if (id !== undefined) inBackground('Answering a server', answerServer(message, help))
      else if (method === 'notifications/progress') return progress.next(params)
      else if (method === 'notifications/resources/updated') return resources.updated(params)
      else if (method === 'notifications/resources/list_changed') return { jsonrpc: '2.0', method }
      return null
    },
  }
}

function textBlock(text: string): Fields {
  return { type: 'text', text }
}

/** An error whose message holds nothing of the server's. */
class ShownError extends Error {
  readonly code: number
  constructor(message: string, code = -32602) {
    super(message)
    this.code = code
  }
}

/** A handler that fails in our own words. Of the server's errors only a code of the protocol passes. */
function inOurWords(handler: Handler): Handler {
  return (request, help) =>
    handler(request, help).catch((error) => {
      return failureOf(request, error instanceof ShownError ? error : serverError(error))
    })
}

function serverError(error: unknown): ShownError {
  const message = 'The server answered with an error. What it says is not shown'
  return new ShownError(message, knownCode(Object(error).code))
}

function resultOf({ result, error }: RpcMessage): Fields {
  if (!isPlainObject(result)) throw serverError(error)
  const { resultType = 'complete' } = result
  if (resultType === 'complete') return result
  throw new ShownError('The server asks for something before it answers, which is not passed on')
}

/** An error of a call that was not sent. Its message may tell what an asset contains. */
function failureHere(error: unknown): ByrefError {
  if (!(error instanceof ByrefError)) return NOT_SHOWN
  if (error.code === 'flow_refused') return error
  const message = 'A reference names nothing that fits here. What there is is not shown'
  return new ByrefError(error.code, message)
}

/** Answers a request of the server. It learns the client's folders, and that somebody is there. */
async function answerServer(request: RpcMessage, { askClient, answer }: FromServer): Promise<void> {
  const { id, method } = request
  if (method === 'ping') answer({ jsonrpc: '2.0', id, result: {} })
  else if (method === 'roots/list') answer({ ...(await askClient({ jsonrpc: '2.0', method })), id })
  else answer(failureOf(request, NOT_PASSED))
}

/** Counts progress anew: the server's numbers and words do not pass. */
class ProgressCounter {
  readonly #counts = new Map<unknown, number>()

  /** A handler during whose work progress is counted. */
  during(handler: Handler): Handler {
    return async (request, help) => {
      const { progressToken } = Object(request.params?._meta)
      if (progressToken !== undefined) this.#counts.set(progressToken, 0)
      return handler(request, help).finally(() => this.#counts.delete(progressToken))
    }
  }

  /** The notification for the client. Null for a request that is not under way. */
  next(params: unknown): RpcMessage | null {
    const { progressToken } = Object(params)
    const before = this.#counts.get(progressToken)
    if (before === undefined) return null
    const progress = before + 1
    this.#counts.set(progressToken, progress)
    return { jsonrpc: '2.0', method: 'notifications/progress', params: { progressToken, progress } }
  }
}
