import type { AssetTool } from '../../../assets/asset-tools.ts'
import type { Assets } from '../../../assets/assets-contract.ts'
import { defined } from '../../../assets/defined.ts'
import type { Tool } from '../../../boundary/tool.ts'
import { ByrefError } from '../../../core/errors.ts'
import { isPlainObject } from '../../../core/json/json.ts'
import { type Label, UNKNOWN } from '../../../core/labels/label.ts'
import type { GivenLabels } from '../../../policies/trust/check-flow.ts'
import {
  labelOfCall,
  refusalText,
  type SessionLabels,
  violationWords,
} from '../../session-labels.ts'
import { failedCall } from '../asset-tools.ts'
import { stricterByMeta } from '../label-meta.ts'
import { resolveReferences } from '../reference-arguments.ts'
import { answerTo, type Fields, type RpcMessage } from '../rpc/json-rpc.ts'
import type { Handler, Help, RelayOptions } from '../rpc/relay.ts'
import type { SaveBody } from '../save-body.ts'
import { PersonAsker } from './ask-person.ts'
import { readToolCatalog, type ToolCatalog } from './tool-catalog.ts'

/** One client with its server. */
export interface ProxySession {
  assets: Assets
  /** Null if trust is off. */
  labels: SessionLabels | null
  /** Whether the client gets `edit_asset`. */
  editing: boolean
  /** Saves bodies with this label. */
  save(label: Label): SaveBody
}

/** What passes between a client and its server, and how. */
export type ProxyView = Omit<RelayOptions, 'whyEnded'>

/** How a client sees the tools of its server. */
export interface ToolView extends Pick<ProxySession, 'assets' | 'labels'> {
  /** The tools that are added to those of the server. */
  added: readonly AssetTool[]
  /** Whether the client sees nothing of the server but the tools of its first list. */
  isQuarantine: boolean
  /** Prepares a request for the server. */
  toServer(request: RpcMessage): RpcMessage
  /** Runs one of the added tools. Its result is for the client. */
  read(tool: AssetTool, call: ProxyCall): Promise<Fields>
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
}

/** Characters of the arguments that a person sees. */
const MAX_SHOWN = 2_000

/** The tools of one session: answers `tools/list` and `tools/call`. */
export class ProxyTools {
  readonly #view: ToolView
  readonly #asker = new PersonAsker()
  #catalog: Promise<ToolCatalog> | null = null

  constructor(view: ToolView) {
    this.#view = view
  }

  /** Notes that the server has other tools now. A client in quarantine keeps the first list. */
  changed(): void {
    if (!this.#view.isQuarantine) this.#catalog = null
  }

  /** Notes the capabilities that a client declares in a request. */
  hear(request: RpcMessage): void {
    this.#asker.hear(request)
  }

  /** Returns the catalog as it was last read; null before that. */
  async known(): Promise<ToolCatalog | null> {
    return (await this.#catalog?.catch(() => null)) ?? null
  }

  readonly list: Handler = async (request, help) => {
    this.changed()
    const { list } = await this.#read(request, help)
    return answerTo(request, this.#view.isQuarantine ? { tools: list.tools } : list)
  }

  readonly call: Handler = async (request, help) => {
    const { name, arguments: given, _meta } = Object(request.params)
    const { isQuarantine, labels: session, read, shown, failed, toServer } = this.#view
    this.hear(request)
    const { own, tools } = await this.#read(request, help)
    const written = isPlainObject(given) ? given : {}
    const context = stricterByMeta(session?.context ?? UNKNOWN, _meta)
    const labels = { context, reads: session?.reads(written) ?? [] }
    const { signal } = help
    const tool = tools.get(name)
    const about = { request, name: String(name), tool, written, signal }
    const call: ProxyCall = { ...about, labels, label: labelOfCall(labels) }
    const added = own.get(name)
    if (added) return answerTo(request, await read(added, call))
    if (isQuarantine && !tool) {
      const error = new ByrefError('tool_not_found', 'There is no tool with this name')
      return answerTo(request, failedCall(error))
    }
    let ready: RpcMessage
    try {
      ready = await this.#resolved(call, help)
    } catch (error) {
      return answerTo(request, failedCall(failed(error)))
    }
    // A question for the person of the client, in place of a call.
    if (ready.method === undefined) return ready
    signal.throwIfAborted()
    return shown(await help.ask(toServer(ready)), call)
  }

  #read(request: RpcMessage, { ask }: Help): Promise<ToolCatalog> {
    const { toServer, added } = this.#view
    this.#catalog ??= readToolCatalog(toServer(request), ask, added)
    const current = this.#catalog
    current.catch(() => {
      if (this.#catalog === current) this.#catalog = null
    })
    return current
  }

  /**
   * Returns the request with the values of its references. Or an answer, if the client must ask its person first.
   *
   * @throws ByrefError of the reference that failed; `flow_refused`
   */
  async #resolved(call: ProxyCall, { askClient }: Help): Promise<RpcMessage> {
    const { request, tool, written, labels } = call
    const { assets, labels: session, isQuarantine } = this.#view
    if (!tool) return request
    const args = await resolveReferences(tool, written, assets)
    if (!session) return withArguments(call, args)
    const before = this.#asker.answered(request)
    if (before?.approved) return withArguments(call, before.given, true)
    // A value that was filled in has an origin, even if no label records it.
    const isUnknown = args !== written && labels.reads.length === 0
    const unknown = { path: [], ref: 'a reference', labels: { label: UNKNOWN } }
    const reads = isUnknown ? [unknown] : labels.reads
    const words = violationWords(tool, { written, args, labels: { ...labels, reads } })
    if (words === null) return withArguments(call, args)
    const values = isQuarantine ? '' : `\n${JSON.stringify(args).slice(0, MAX_SHOWN)}`
    const question = { message: `Run ${tool.id}? ${words}${values}`, given: args }
    const answer = before ? false : await this.#asker.ask(request, question, askClient)
    if (answer === true) return withArguments(call, args)
    if (answer) return answer
    const end = answer === null ? '' : '; the person who was asked did not allow it'
    throw new ByrefError('flow_refused', `${refusalText(tool, words)}${end}`)
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
