import { shortened } from '../../core/json/cut.ts'
import { isPlainObject } from '../../core/json/json.ts'
import { setRecent } from '../../core/recent.ts'
import { nodeBuiltin } from '../../node-builtin.ts'
import {
  type Ask,
  answerTo,
  CLIENT_CAPABILITIES,
  isOfNewProtocol,
  type RpcMessage,
} from './rpc/json-rpc.ts'

const { isDeepStrictEqual } = nodeBuiltin('node:util')

interface Question {
  message: string
  /** Exactly the arguments that will run. */
  given: Record<string, unknown>
}

/** Maximum number of open questions. The oldest are forgotten first. */
const MAX_WAITING = 100

/** Maximum length of the arguments that a person sees, and of one text in them, in characters. */
const MAX_SHOWN = 2_000
const MAX_TEXT = 500

/** The schema of the form in which a client's user approves a call. */
const FORM = {
  type: 'object' as const,
  properties: { approve: { type: 'boolean' as const, title: 'Approve' } },
  required: ['approve'],
}

/**
 * Returns the question whether a call may run.
 *
 * @param given The arguments as the person may see them, or words in their place.
 * @param reasons Why the person is asked.
 */
export function approvalQuestion(
  tool: string,
  given: string | object,
  reasons: readonly string[],
): string {
  // A long text must not hide the arguments after it.
  const short = (_: string, value: unknown) =>
    typeof value === 'string' ? shortened(value, MAX_TEXT) : value
  const shown = typeof given === 'string' ? given : JSON.stringify(given, short)
  const why = reasons.map((one) => ` ${one}.`).join('')
  return `Run ${tool} with ${shortened(shown, MAX_SHOWN)}?${why}`
}

/** Returns the request that asks the person of a client whether a call may run. */
export function approvalRequest(message: string) {
  return { method: 'elicitation/create' as const, params: { message, requestedSchema: FORM } }
}

/** Returns whether the person approved. */
export function isApproved(answer: unknown): boolean {
  const { action, content } = Object(answer)
  return action === 'accept' && Object(content).approve === true
}

/** Asks the person of a client about calls (elicitation). */
export class PersonAsker {
  readonly #waiting = new Map<string, { name: unknown; args: unknown; given: Question['given'] }>()
  #canAsk = false

  /** Remembers the capabilities that a client declares in a request. */
  noteCapabilities({ method, params }: RpcMessage): void {
    const declared =
      method === 'initialize' ? params?.capabilities : Object(params?._meta)[CLIENT_CAPABILITIES]
    if (declared !== undefined) this.#canAsk = takesForms(Object(declared).elicitation)
  }

  /**
   * Returns whether the person allows a call. Null if the client cannot ask. A client of 2026-07-28 gets an answer
   * instead, asks, and sends the call again.
   */
  async ask(
    request: RpcMessage,
    { message, given }: Question,
    askClient: Ask,
  ): Promise<boolean | RpcMessage | null> {
    if (!this.#canAsk) return null
    const asking = approvalRequest(message)
    if (!isOfNewProtocol(request)) {
      return isApproved((await askClient({ jsonrpc: '2.0', ...asking })).result)
    }
    const requestState = crypto.randomUUID()
    const { name, arguments: args } = Object(request.params)
    setRecent(this.#waiting, requestState, { name, args, given }, MAX_WAITING)
    const inputRequests = { approve: asking }
    return answerTo(request, { resultType: 'input_required', inputRequests, requestState })
  }

  /**
   * Returns the call that a request sends again after its person was asked, and the answer. Null for any other. Works
   * once.
   */
  answered({ params }: RpcMessage): { given: Record<string, unknown>; approved: boolean } | null {
    const { requestState, inputResponses, name, arguments: args } = Object(params)
    const asked = this.#waiting.get(requestState)
    this.#waiting.delete(requestState)
    if (!asked || asked.name !== name || !isDeepStrictEqual(asked.args, args)) return null
    return { given: asked.given, approved: isApproved(Object(inputResponses).approve) }
  }
}

/** Returns whether a client can show forms. A client that names no mode of elicitation takes the oldest one, forms. */
function takesForms(elicitation: unknown): boolean {
  if (!isPlainObject(elicitation)) return false
  return elicitation.form !== undefined || elicitation.url === undefined
}
