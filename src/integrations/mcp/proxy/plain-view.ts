import { isPlainObject } from '../../../core/json/json.ts'
import { join, type Label, TRUSTED, UNTRUSTED } from '../../../core/labels/label.ts'
import { isAssetRef, parseAssetRef } from '../../../core/refs/asset-ref.ts'
import { assetTools } from '../../plain-tools.ts'
import { checkNamed } from '../../trust/tool-trust.ts'
import {
  ASSET_TEMPLATE,
  assetAsResource,
  callAssetTool,
  READING_TOOLS,
} from '../assets-for-clients.ts'
import { stricterByMeta, withLabel } from '../mcp-labels.ts'
import { answerTo, failureOf, isUnknownMethod, type RpcMessage } from '../rpc/json-rpc.ts'
import type { Handler, Peers } from '../rpc/relay.ts'
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
 * Returns the view of a client that sees values. Large ones become references. With trust on, the session records the
 * label of everything that the client sees.
 */
export function plainView(session: ProxySession, limits: Limits): ProxyView {
  const { labels } = session
  const tools = new ProxyTools(session, {
    isQuarantine: false,
    added: assetTools(session.editing),
    async read(tool, { written, label, signal }, assets) {
      if (labels) checkNamed(tool.id, written)
      labels?.showWhole(label)
      return callAssetTool(tool, written, { assets, signal })
    },
    shown: (answer, { name, ...call }) => short(answer, `${name} result`, call),
    failed: (error) => error,
  })

  /** Notes that the client sees an answer. Returns the label of the answer. */
  function seen({ result }: RpcMessage, { tool, label = TRUSTED }: Partial<ProxyCall> = {}): Label {
    const own = tool?.openWorld === false && result ? TRUSTED : UNTRUSTED
    const all = stricterByMeta(join(own, label), result?._meta)
    labels?.showWhole(all)
    return all
  }

  /** Notes that the client sees an answer, and returns it with references in place of large values. */
  async function short(answer: RpcMessage, name: string, call?: Partial<ProxyCall>) {
    return shortened(answer, name, seen(answer, call))
  }

  async function shortened(answer: RpcMessage, name: string, label: Label): Promise<RpcMessage> {
    if (!answer.result) return answer
    const given = labels ? withLabel(answer.result, label) : answer.result
    const { readingTools = READING_TOOLS } = (await tools.known()) ?? {}
    const options = { ...limits, save: session.save(label), readingTools }
    // If storing fails, for example on a full disk, the result passes unchanged.
    const result = await shortenResult(given, name, options).catch(() => given)
    return result === answer.result ? answer : { ...answer, result }
  }

  /** Returns the state of a task, which holds the result of its call. */
  async function withTask(answer: RpcMessage): Promise<RpcMessage> {
    const { result } = answer
    const label = seen(answer)
    if (!isPlainObject(result?.result)) return answer
    const inner = await shortened({ ...answer, result: result.result }, 'task result', label)
    return { ...answer, result: { ...result, result: inner.result } }
  }

  const introduced: Handler = async (request, { ask }) => {
    tools.asker.noteCapabilities(request)
    return withGuide(await ask(request))
  }

  /** Answers with the server's result, shortened. */
  const shortOf = (kind: string): Handler => {
    return async (request, { ask }) =>
      short(await ask(request), `${Object(request.params).name ?? ''} ${kind}`.trim())
  }
  const passed: Handler = async (request, { ask }) => {
    const answer = await ask(request)
    const isAuthored = AUTHORED.test(request.method ?? '') && isPlainObject(answer.result)
    if (!isAuthored) seen(answer)
    return answer
  }

  return {
    handlers: {
      initialize: introduced,
      'server/discover': introduced,
      'tools/list': tools.list,
      'tools/call': tools.call,
      'tasks/result': shortOf('task result'),
      'tasks/get': async (request, { ask }) => withTask(await ask(request)),
      'prompts/get': shortOf('prompt'),
      'resources/list': async (request, { ask }) => {
        const answer = await ask(request)
        if (Object(answer.result?.resources).length > 0) seen(answer)
        return isUnknownMethod(answer) ? answerTo(request, { resources: [] }) : answer
      },
      'resources/templates/list': async (request, { ask }) =>
        withTemplate(await ask(request), request),
      'resources/read': (request, peers) => {
        const isAsset = isAssetRef(String(request.params?.uri))
        return isAsset ? readAsset(session, request, peers) : shortOf('resource')(request, peers)
      },
    },
    // With trust on, everything else that the server answers is seen, too.
    ...(labels && { otherwise: passed }),
    fromServer: (message) => fromServer(message, session, tools),
  }
}

/** Returns a message of the server for the client. */
function fromServer(message: RpcMessage, { labels }: ProxySession, tools: ProxyTools) {
  const { method = '', params } = message
  if (method === 'notifications/tools/list_changed') {
    tools.changed()
    if (tools.isSearched) return null
  }
  const isSilent = method === 'notifications/progress' && Object(params).message === undefined
  if (!isSilent && !WORDLESS.test(method)) labels?.showWhole(UNTRUSTED)
  return message
}

/** Answers with an asset. The server may have addresses of this form, too. */
async function readAsset(
  { assets, labels }: ProxySession,
  request: RpcMessage,
  { ask }: Peers,
): Promise<RpcMessage> {
  const uri = String(request.params?.uri)
  const parts = parseAssetRef(uri)
  if (parts) labels?.showWhole(labels.asset(parts))
  try {
    return answerTo(request, await assetAsResource(assets, uri))
  } catch (error) {
    const answer = await ask(request)
    return answer.error ? failureOf(request, error) : answer
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

/** Returns the server's list of templates, with the template of assets after its last page. */
function withTemplate(answer: RpcMessage, request: RpcMessage): RpcMessage {
  if (isUnknownMethod(answer)) return answerTo(request, { resourceTemplates: [ASSET_TEMPLATE] })
  const { result } = answer
  if (!Array.isArray(result?.resourceTemplates) || result.nextCursor) return answer
  const resourceTemplates = [...result.resourceTemplates, ASSET_TEMPLATE]
  return { ...answer, result: { ...result, resourceTemplates } }
}
