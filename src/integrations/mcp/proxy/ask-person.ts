import { isPlainObject } from '../../../core/json/json.ts'
import { nodeBuiltin } from '../../../node-builtin.ts'
import { answerTo, isOfNewProtocol, type RpcMessage } from '../rpc/json-rpc.ts'
import type { Ask } from '../rpc/relay.ts'

const { isDeepStrictEqual } = nodeBuiltin('node:util')

/** Asks the person of a client about calls (elicitation). */
export interface PersonAsker {
  /** Notes what a client says of itself in a request. */
  hear(request: RpcMessage): void
  /**
   * Whether the person lets a call go; an answer to give in place of it where the client asks first and then sends
   * the call again; `null` where it cannot ask.
   */
  ask(request: RpcMessage, what: Asked, askClient: Ask): Promise<boolean | RpcMessage | null>
  /** The call that a request goes on with, now that its person was asked, and whether it may go. Once for each. */
  answered(request: RpcMessage): { given: Record<string, unknown>; approved: boolean } | null
}

interface Asked {
  message: string
  /** Exactly what will run. */
  given: Record<string, unknown>
}

/** More questions that wait are forgotten from the first on. */
const MAX_WAITING = 100

const CLIENT = 'io.modelcontextprotocol/clientCapabilities'

/** Begins with a client that has said nothing. */
export function createPersonAsker(): PersonAsker {
  const waiting = new Map<string, { name: unknown; args: unknown; given: Asked['given'] }>()
  let canAsk = false

  return {
    hear({ method, params }) {
      const said = method === 'initialize' ? params?.capabilities : Object(params?._meta)[CLIENT]
      if (said !== undefined) canAsk = takesForms(Object(said).elicitation)
    },
    async ask(request, { message, given }, askClient) {
      if (!canAsk) return null
      const params = { message, requestedSchema: FORM }
      if (!isOfNewProtocol(request)) {
        const asking = { jsonrpc: '2.0' as const, method: 'elicitation/create', params }
        return isYes((await askClient(asking)).result)
      }
      const requestState = crypto.randomUUID()
      const { name, arguments: args } = Object(request.params)
      waiting.set(requestState, { name, args, given })
      for (const id of [...waiting.keys()].slice(0, -MAX_WAITING)) waiting.delete(id)
      const inputRequests = { approve: { method: 'elicitation/create', params } }
      const asking = { resultType: 'input_required', inputRequests, requestState }
      return answerTo(request, asking)
    },
    answered({ params }) {
      const { requestState, inputResponses, name, arguments: args } = Object(params)
      const asked = waiting.get(requestState)
      waiting.delete(requestState)
      if (!asked || asked.name !== name || !isDeepStrictEqual(asked.args, args)) return null
      return { given: asked.given, approved: isYes(Object(inputResponses).approve) }
    },
  }
}

const FORM = {
  type: 'object',
  properties: { approve: { type: 'boolean', title: 'Approve' } },
  required: ['approve'],
}

/** Clients that say no form of it take the first there was. */
function takesForms(elicitation: unknown): boolean {
  if (!isPlainObject(elicitation)) return false
  return elicitation.form !== undefined || elicitation.url === undefined
}

function isYes(answer: unknown): boolean {
  const { action, content } = Object(answer)
  return action === 'accept' && Object(content).approve === true
}
