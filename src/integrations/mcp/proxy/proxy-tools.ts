import type { AssetTool } from '../../../assets/asset-tools.ts'
import type { Assets } from '../../../assets/assets-contract.ts'
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
import { stricterByMeta } from '../label-meta.ts'
import { failedCall, READING_TOOLS, type ReadingToolNames } from '../reading-tools.ts'
import { resolveReferences } from '../reference-arguments.ts'
import { answerTo, type Fields, type RpcMessage } from '../rpc/json-rpc.ts'
import type { Handler, Help } from '../rpc/relay.ts'
import { PersonAsker } from './ask-person.ts'
import { Cached } from './cached.ts'
import { readToolCatalog, type ToolCatalog } from './tool-catalog.ts'

/** How a client sees the tools of its server. */
export interface ToolView {
  assets: Assets
  /** The tools that are added to those of the server. */
  added: readonly AssetTool[]
  /** Null where trust is off. */
  labels: SessionLabels | null
  /** Whether the client sees nothing of the server but the tools of its first list. */
  isQuarantine: boolean
  /** Prepares a request for the server. */
  toServer(request: RpcMessage): RpcMessage
  /** Runs one of the added tools. Its result is for the client. */
  read(tool: AssetTool, input: Record<string, unknown>, call: ReadCall): Promise<Fields>
  /** The answer of the server, for the client. */
  shown(answer: RpcMessage, call: AnsweredCall): Promise<RpcMessage>
  /** The error of a call that was not sent, for the client. */
  failed(error: unknown): unknown
}

/** A call of an added tool. */
export interface ReadCall {
  /** The label of everything that the call is given. */
  label: Label
  signal: AbortSignal
}

/** A call that the server answered. */
export interface AnsweredCall {
  request: RpcMessage
  name: string
  tool: Tool | undefined
  /** The label of everything that the call was given. */
  label: Label
}

/** What is sent to the server: the arguments, and whether this answers a question of ours. */
interface ReadyCall {
  args: Record<string, unknown>
  isAnswer: boolean
}

/** Characters of the arguments that a person sees. */
const MAX_SHOWN = 2_000

/** The tools of one session: `tools/list` and `tools/call`. */
export class ProxyTools {
  readonly #view: ToolView
  readonly #catalog = new Cached<ToolCatalog>()
  readonly #asker = new PersonAsker()

  constructor(view: ToolView) {
    this.#view = view
  }

  /** Notes that the server has other tools now. */
  changed(): void {
    if (!this.#view.isQuarantine) this.#catalog.forget()
  }

  /** Notes what a client says of itself. */
  hear(request: RpcMessage): void {
    this.#asker.hear(request)
  }

  /** The names of the tools that read assets, as far as they are known. */
  async readingNames(): Promise<ReadingToolNames> {
    return (await this.#catalog.known())?.readingTools ?? READING_TOOLS
  }

  /** Answers `tools/list`. */
  readonly list: Handler = async (request, help) => {
    this.changed()
    const { list } = await this.#current(request, help)
    return answerTo(request, this.#view.isQuarantine ? { tools: list.tools } : list)
  }

  /** Answers `tools/call`: resolves references, asks the trust policy, and sends the call. */
  readonly call: Handler = async (request, help) => {
    const { name, arguments: given, _meta } = Object(request.params)
    const { assets, isQuarantine, labels, read, shown, failed } = this.#view
    this.hear(request)
    const { own, tools } = await this.#current(request, help)
    const written = isPlainObject(given) ? given : {}
    const context = labels ? stricterByMeta(labels.context, _meta) : UNKNOWN
    const found: GivenLabels = { context, reads: labels?.reads(written) ?? [] }
    const label = labelOfCall(found)
    const reading = own.get(name)
    if (reading)
      return answerTo(request, await read(reading, written, { label, signal: help.signal }))
    const tool = tools.get(name)
    if (isQuarantine && !tool) {
      const error = new ByrefError('tool_not_found', 'There is no tool of this name')
      return answerTo(request, failedCall(error))
    }
    let ready: ReadyCall | RpcMessage = { args: written, isAnswer: false }
    try {
      if (tool) {
        ready.args = await resolveReferences(tool, written, assets)
        if (labels)
          ready = await this.#allowed(
            request,
            { tool, args: ready.args, written, labels: found },
            help,
          )
      }
    } catch (error) {
      return answerTo(request, failedCall(failed(error)))
    }
    if (!('args' in ready)) return ready
    help.signal.throwIfAborted()
    const answer = await help.ask(this.#view.toServer(toSend(request, written, ready)))
    return shown(answer, { request, name: String(name), tool, label })
  }

  #current(request: RpcMessage, { ask }: Help): Promise<ToolCatalog> {
    const { toServer, added } = this.#view
    return this.#catalog.get(() => readToolCatalog(toServer(request), ask, added))
  }

  /** The call as it may be sent. Or the answer in its place, where a person is asked first. */
  async #allowed(
    request: RpcMessage,
    call: { tool: Tool; args: Record<string, unknown>; written: unknown; labels: GivenLabels },
    { askClient }: Help,
  ): Promise<ReadyCall | RpcMessage> {
    const { tool, args, written, labels } = call
    const before = this.#asker.answered(request)
    if (before?.approved) return { args: before.given, isAnswer: true }
    // A value that was filled in came from somewhere, even where no label says where.
    const unknown = { path: [], ref: 'a reference', labels: { label: UNKNOWN } }
    const isFilled = args !== written && labels.reads.length === 0
    const reads = isFilled ? [unknown] : labels.reads
    const why = violationWords(tool, { written, args, labels: { ...labels, reads } })
    if (why === null) return { args, isAnswer: false }
    const values = this.#view.isQuarantine ? '' : `\n${JSON.stringify(args).slice(0, MAX_SHOWN)}`
    const message = `Run ${tool.id}? ${why}${values}`
    const said = before
      ? false
      : await this.#asker.ask(request, { message, given: args }, askClient)
    if (said === true) return { args, isAnswer: false }
    if (typeof said === 'object' && said !== null) return said
    const end = said === null ? '' : '; the person who was asked did not allow it'
    throw new ByrefError('flow_refused', `${refusalText(tool, why)}${end}`)
  }
}

function toSend(request: RpcMessage, written: unknown, { args, isAnswer }: ReadyCall): RpcMessage {
  if (args === written && !isAnswer) return request
  const { requestState, inputResponses, ...params } = Object(request.params)
  // The answer to a question of ours is not for the server.
  if (!isAnswer && requestState !== undefined) params.requestState = requestState
  if (!isAnswer && inputResponses !== undefined) params.inputResponses = inputResponses
  return { ...request, params: { ...params, arguments: args } }
}
