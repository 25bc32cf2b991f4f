import type { AssetTool } from '../../../assets/asset-tools.ts'
import type { Assets } from '../../../assets/assets-contract.ts'
import { assetReads } from '../../../boundary/resolve.ts'
import type { Tool } from '../../../boundary/tool.ts'
import type { ToolSearchOptions } from '../../../boundary/tool-search.ts'
import { checkFound } from '../../../boundary/validate.ts'
import { defined } from '../../../core/defined.ts'
import { ByrefError } from '../../../core/errors.ts'
import { isPlainObject } from '../../../core/json/json.ts'
import { type Label, UNKNOWN } from '../../../core/labels/label.ts'
import type { AssetRefParts } from '../../../core/refs/asset-ref.ts'
import type { GivenLabels } from '../../../policies/trust/check-flow.ts'
import {
  denialText,
  labelOfCall,
  type SessionLabels,
  violationWords,
} from '../../trust/session-labels.ts'
import { approvalQuestion, PersonAsker } from '../ask-person.ts'
import { failedCall, type SaveBody, textBlock } from '../assets-for-clients.ts'
import { stricterByMeta } from '../mcp-labels.ts'
import { resolveArguments } from '../reference-arguments.ts'
import { answerTo, type Fields, type RpcMessage } from '../rpc/json-rpc.ts'
import type { Handler, Peers, RelayOptions } from '../rpc/relay.ts'
import { ProxySearch } from './proxy-search.ts'
import { readToolCatalog, type ToolCatalog } from './tool-catalog.ts'

/** One client with its server. */
export interface ProxySession {
  assets: Assets
  /** Null if trust is off. */
  labels: SessionLabels | null
  /** Whether the client gets `edit_asset`. */
  editing: boolean
  /** Whether the client finds the server's tools by search. */
  toolSearch: boolean | ToolSearchOptions | undefined
  /** The folder for files whose paths are arguments. */
  files: string | undefined
  /** Saves bodies with this label. */
  save(label: Label): SaveBody
}

/** What passes between a client and its server, and how. */
export type ProxyView = Omit<RelayOptions, 'whyEnded'>

/** How a client sees the tools of its server. */
export interface ToolView {
  /** The tools that are added to those of the server. */
  added: readonly AssetTool[]
  /** Whether the client sees only the tools of the server's first list. */
  isQuarantine: boolean
  /**
   * Runs one of the added tools. Returns its result for the client.
   *
   * @param assets Assets that note the label of the call for what is saved through them.
   */
  read(tool: AssetTool, call: ProxyCall, assets: Assets): Promise<Fields>
  /** Returns the answer of the server, for the client. */
  shown(answer: RpcMessage, call: ProxyCall): Promise<RpcMessage>
  /** The error of a call that was not sent, for the client. */
  failed(error: unknown): unknown
}

/** A call of a tool. */
export interface ProxyCall {
  request: RpcMessage
  name: string
  /** Undefined for an added tool, and for one that the server did not list. */
  tool?: Tool
  /** The arguments as the client wrote them. */
  written: Record<string, unknown>
  labels: GivenLabels
  /** The label of everything that the call is given. */
  label: Label
  signal: AbortSignal
  /** Whether it came through `call_tool`. Wrong arguments are then answered with the parameters of the tool. */
  isFound: boolean
}

/** The tools of one session: answers `tools/list` and `tools/call`. */
export class ProxyTools {
  readonly #session: ProxySession
  readonly #view: ToolView
  readonly asker = new PersonAsker()
  #catalog: Promise<ToolCatalog> | null = null
  /** Undefined until the first list is known, which decides for the whole session. */
  #search: ProxySearch | null | undefined
  /** Notes about changed tools for the model. */
  #changes: string[] = []
  /** The names of tools, in the order in which they appeared. */
  readonly #order = new Map<unknown, number>()

  constructor(session: ProxySession, view: ToolView) {
    this.#session = session
    this.#view = view
  }

  /** Marks the server's tools as changed. A client in quarantine keeps the first list. */
  changed(): void {
    if (!this.#view.isQuarantine) this.#catalog = null
  }

  /** Whether the client finds the server's tools by search. Its own list then stays the same. */
  get isSearched(): boolean {
    return Boolean(this.#search)
  }

  /** Returns the catalog as it was last read; null before that. */
  async known(): Promise<ToolCatalog | null> {
    return (await this.#catalog?.catch(() => null)) ?? null
  }

  readonly list: Handler = async (request, peers) => {
    this.changed()
    const { shown, added, rest } = await this.#read(request, peers)
    const tools = this.#search?.list ?? [...shown, ...added]
    return answerTo(request, this.#view.isQuarantine ? { tools } : { ...rest, tools })
  }

  readonly call: Handler = async (request, peers) => {
    this.asker.noteCapabilities(request)
    // Not every server reports changes.
    if (this.#search?.isStale(request)) this.changed()
    const { tools } = await this.#read(request, peers)
    let asked: RpcMessage
    try {
      asked = this.#search?.called(request) ?? request
    } catch (error) {
      return answerTo(request, failedCall(error))
    }
    // Through call_tool, it is the server's own tool of this name, if there is one.
    const isOther = asked !== request && tools.has(asked.params?.name)
    const found = isOther ? null : await this.#search?.answer(asked)
    const answer = found ? answerTo(request, found) : await this.#call(asked, request, peers)
    return this.#withChangeNote(answer)
  }

  /** @param sent The request as the client sent it. It differs where the call came through `call_tool`. */
  async #call(request: RpcMessage, sent: RpcMessage, peers: Peers): Promise<RpcMessage> {
    const { name, arguments: given, _meta } = Object(request.params)
    const { isQuarantine, read, shown, failed } = this.#view
    const { labels: known, assets } = this.#session
    const { own, tools } = await this.#read(request, peers)
    const written = isPlainObject(given) ? given : {}
    const context = stricterByMeta(known?.context ?? UNKNOWN, _meta)
    const labelsOf = known && ((ref: AssetRefParts) => ({ label: known.asset(ref) }))
    const reads = labelsOf ? await assetReads(written, labelsOf, assets) : []
    const labels = { context, reads }
    const { signal } = peers
    const tool = tools.get(name)
    const about = { request, name: String(name), tool, written, signal, isFound: request !== sent }
    const call: ProxyCall = { ...about, labels, label: labelOfCall(labels) }
    const added = own.get(name)
    if (added) {
      const scoped = known?.scoped(assets, call.label) ?? assets
      return answerTo(request, await read(added, call, scoped))
    }
    if (isQuarantine && !tool) {
      const error = new ByrefError('tool_not_found', 'There is no tool with this name')
      return answerTo(request, failedCall(error))
    }
    let ready: RpcMessage
    try {
      ready = await this.#resolved(call, peers)
    } catch (error) {
      return answerTo(request, failedCall(failed(error)))
    }
    // A question for the person of the client, in place of a call.
    if (ready.method === undefined) return ready
    signal.throwIfAborted()
    return shown(await peers.ask(ready), call)
  }

  /** Adds a note about changed tools at the end of a result. */
  #withChangeNote(answer: RpcMessage): RpcMessage {
    const { content } = Object(answer.result)
    if (this.#changes.length === 0 || !Array.isArray(content)) return answer
    const note = textBlock(this.#changes.join('\n'))
    this.#changes = []
    return { ...answer, result: { ...answer.result, content: [...content, note] } }
  }

  #read(request: RpcMessage, { ask }: Peers): Promise<ToolCatalog> {
    const { added: adding } = this.#view
    const { files } = this.#session
    this.#catalog ??= readToolCatalog(request, ask, { adding, files }).then((one) =>
      this.#noted(one),
    )
    const current = this.#catalog
    current.catch(() => {
      if (this.#catalog === current) this.#catalog = null
    })
    return current
  }

  /** Puts new tools at the end, so that the beginning of prompts stays the same. */
  #noted(read: ToolCatalog): ToolCatalog {
    for (const { name } of read.shown) {
      if (!this.#order.has(name)) this.#order.set(name, this.#order.size)
    }
    const placeOf = ({ name }: Fields): number => this.#order.get(name) ?? 0
    const catalog = { ...read, shown: read.shown.toSorted((a, b) => placeOf(a) - placeOf(b)) }
    if (this.#search === undefined) {
      this.#search = ProxySearch.for(catalog, this.#session.toolSearch)
    } else this.#changes.push(...(this.#search?.update(catalog) ?? []))
    return catalog
  }

  /**
   * Returns the request with the values of its references. Returns an answer if the client must ask its person first.
   *
   * @throws ByrefError of the reference that failed; `flow_denied`, `invalid_arguments`
   */
  async #resolved(call: ProxyCall, { askClient }: Peers): Promise<RpcMessage> {
    const { request, tool, written, labels } = call
    const { assets, files, labels: known } = this.#session
    if (!tool) return request
    const args = await resolveArguments(tool, written, { assets, files })
    if (call.isFound) await checkFound(tool, args)
    if (!known) return withArguments(call, args)
    const before = this.asker.answered(request)
    if (before?.approved) return withArguments(call, before.given, true)
    // A value that was filled in has an origin, even without a label.
    const isUnknown = args !== written && labels.reads.length === 0
    const unknown = { path: [], ref: 'a reference', labels: { label: UNKNOWN } }
    const reads = isUnknown ? [unknown] : labels.reads
    const words = violationWords(tool, { written, args, labels: { ...labels, reads } })
    if (words === null) return withArguments(call, args)
    // In quarantine, the person sees references in place of the values.
    const shown = this.#view.isQuarantine ? written : args
    const question = { message: approvalQuestion(tool.id, shown, [words]), given: args }
    const answer = before ? false : await this.asker.ask(request, question, askClient)
    if (answer === true) return withArguments(call, args)
    if (answer) return answer
    const end = answer === null ? '' : '; the person who was asked did not allow it'
    throw new ByrefError('flow_denied', `${denialText(tool, words)}${end}`)
  }
}

/** @param isAnswer Whether the request answers a question of the proxy, which the server must not see. */
function withArguments(
  { request, written }: ProxyCall,
  args: Fields,
  isAnswer = false,
): RpcMessage {
  if (args === written && !isAnswer) return request
  const own = isAnswer ? { requestState: undefined, inputResponses: undefined } : {}
  return { ...request, params: defined({ ...request.params, ...own, arguments: args }) }
}
