import type { AssetTool } from '../../../assets/asset-tools.ts'
import type { Assets } from '../../../assets/assets-contract.ts'
import type { Tool } from '../../../boundary/tool.ts'
import { ByrefError } from '../../../core/errors.ts'
import { isPlainObject } from '../../../core/json/json.ts'
import type { Label } from '../../../core/labels/label.ts'
import { failedCall } from '../reading-tools.ts'
import { resolveReferences } from '../reference-arguments.ts'
import { answerTo, type RpcMessage } from '../rpc/json-rpc.ts'
import type { Ask, Handler, Help } from '../rpc/relay.ts'
import type { PersonAsker } from './ask-person.ts'
import { type FlowGuard, inWords } from './flow-guard.ts'
import type { ToolCatalog } from './tool-catalog.ts'

/** Trust in one session: what may flow, and who is asked. */
export interface SessionTrust {
  guard: FlowGuard
  asker: PersonAsker
  /** Whether a person is shown the values that a call would run with: their client has had them. */
  showsValues: boolean
}

/** How calls of tools are answered. */
export interface CallTool {
  assets: Assets
  catalog(request: RpcMessage, ask: Ask): Promise<ToolCatalog>
  /** Null where trust is off. */
  trust: SessionTrust | null
  /** Whether there are no tools but those of the catalog. */
  isClosed: boolean
  /** A call of one of the tools that are added. */
  read(request: RpcMessage, tool: AssetTool, call: ReadCall): Promise<RpcMessage>
  /** What the client is given of the server's answer; the label is of what the call was given. */
  shown(answer: RpcMessage, call: AnsweredCall): Promise<RpcMessage>
  /** What the client is told of an error of ours. */
  failed(error: unknown): unknown
}

interface ReadCall {
  input: Record<string, unknown>
  label: Label | null
  signal: AbortSignal
}

interface AnsweredCall {
  request: RpcMessage
  name: string
  tool: Tool | undefined
  label: Label | null
}

/** Answers `tools/call`: with the values of references in the arguments, where these may flow to the tool. */
export function callTool(how: CallTool): Handler {
  const { assets, trust, isClosed } = how

  return async (request, help) => {
    const { name, arguments: args, _meta } = Object(request.params)
    trust?.asker.hear(request)
    const { own, tools } = await how.catalog(request, help.ask)
    const input = isPlainObject(args) ? args : {}
    const label = trust?.guard.given(input, _meta).all ?? null
    const reading = own.get(name)
    if (reading) return how.read(request, reading, { input, label, signal: help.signal })
    const tool = tools.get(name)
    if (isClosed && !tool) {
      return failure(request, new ByrefError('invalid_arguments', 'There is no tool of this name'))
    }
    let ready: Ready | RpcMessage = { given: input, isOurs: false }
    try {
      const resolved = tool ? await resolveReferences(tool, input, assets) : input
      if (trust && tool) {
        ready = await allowed(request, { trust, tool, input, resolved }, help)
      } else ready.given = resolved
    } catch (error) {
      return failure(request, how.failed(error))
    }
    if (!('given' in ready)) return ready
    help.signal.throwIfAborted()
    const answer = await help.ask(toSend(request, input, ready))
    return how.shown(answer, { request, name: String(name), tool, label })
  }
}

/** What a call runs with, and whether a question about it was ours. */
interface Ready {
  given: Record<string, unknown>
  isOurs: boolean
}

interface Checked {
  trust: SessionTrust
  tool: Tool
  input: Record<string, unknown>
  resolved: Record<string, unknown>
}

/** What the call runs with; or the answer in its place, where a person is to be asked first. */
async function allowed(
  request: RpcMessage,
  { trust, tool, input, resolved }: Checked,
  { askClient }: Help,
): Promise<Ready | RpcMessage> {
  const { guard, asker, showsValues } = trust
  const before = asker.answered(request)
  if (before?.approved === true) return { given: before.given, isOurs: true }
  const labels = guard.given(input, request.params?._meta)
  const isFilled = resolved !== input
  const violations = guard.violations({ tool, args: resolved, isFilled, labels })
  if (violations.length === 0) return { given: resolved, isOurs: false }
  const why = inWords(violations, input)
  const values = showsValues ? `\n${JSON.stringify(resolved).slice(0, MAX_SHOWN)}` : ''
  const message = `Run ${tool.id}? ${why}${values}`
  const said = before ? false : await asker.ask(request, { message, given: resolved }, askClient)
  if (said === true) return { given: resolved, isOurs: false }
  if (typeof said === 'object' && said !== null) return said
  const end = said === null ? '' : '; the person who was asked did not allow it'
  throw new ByrefError('flow_refused', `The call of "${tool.id}" was not made: ${why}${end}`)
}

/** Characters of arguments that a person is shown. */
const MAX_SHOWN = 2_000

function toSend(
  request: RpcMessage,
  input: Record<string, unknown>,
  { given, isOurs }: Ready,
): RpcMessage {
  if (given === input && !isOurs) return request
  const { requestState, inputResponses, ...params } = Object(request.params)
  const own = isOurs ? {} : { requestState, inputResponses }
  return { ...request, params: { ...params, ...defined(own), arguments: given } }
}

function defined(fields: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))
}

function failure(request: RpcMessage, error: unknown): RpcMessage {
  return answerTo(request, failedCall(error))
}
