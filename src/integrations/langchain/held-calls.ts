import type { AIMessage, BaseMessage } from '@langchain/core/messages'
import { z } from 'zod'
import { sha256 } from '../../assets/bodies/digest.ts'
import { isPlainObject } from '../../core/json/json.ts'

// Calls that their tools do not accept, and a person's decisions about them. One question is about all calls of an
// answer, before any of them runs, so each decision belongs to one call, and no call runs twice.

/** A call as LangChain's messages have it. */
export interface WrittenCall {
  id?: string
  name: string
  args: Record<string, unknown>
}

/** A person's decisions. */
interface Decisions {
  /** The keys of calls of the last answer that may run. */
  approved: readonly string[]
  /** The texts about rejected calls of the thread for the model, by key. */
  rejected: Readonly<Record<string, string>>
}

/** The key of decisions in the state. It is private, so no input of the agent sets it. */
const DECISIONS = '_byrefDecisions'

/** The key of an answer's field with whether its calls are accepted. Providers do not get this field. */
const CHECKED = 'byrefChecked'

export const STATE = z.object({ [DECISIONS]: z.any().optional() })

/** The key of a call. A call with other arguments is another call. */
export function keyOf({ id = '', name, args }: WrittenCall): string {
  return sha256(JSON.stringify([id, name, args]))
}

/** By the key of each call that was checked, why its tool does not accept it. Null for an accepted call. */
export type CheckedCalls = Readonly<Record<string, string | null>>

/** Notes in an answer which of its calls are held, and why. */
export function noteChecked(answer: AIMessage, checked: CheckedCalls): void {
  const response_metadata = { ...answer.response_metadata, [CHECKED]: checked }
  answer.response_metadata = response_metadata
  // Checkpoints store these.
  answer.lc_kwargs.response_metadata = response_metadata
}

/** Returns a person's decisions in a thread. */
export function decisionsIn(state: object): Decisions {
  const found: Decisions | undefined = Reflect.get(state, DECISIONS)
  return isPlainObject(found) ? found : { approved: [], rejected: {} }
}

/**
 * Asks a person about the held calls of the last answer, in the form of LangChain's human-in-the-loop middleware. Asks
 * again for decisions in another form.
 *
 * @param violationOf Returns why the tool of a call does not accept it, for calls that other middleware has changed
 */
export async function askAboutCalls(
  state: { messages: readonly BaseMessage[] },
  runtime: { interrupt?(value: unknown): unknown },
  violationOf: (call: WrittenCall) => Promise<string | null>,
): Promise<{ [DECISIONS]: Decisions }> {
  const last = state.messages.findLast(({ type }) => type === 'ai') as AIMessage | undefined
  const noted: CheckedCalls = Object(last?.response_metadata?.[CHECKED])
  const calls: WrittenCall[] = []
  const actionRequests: object[] = []
  for (const call of last?.tool_calls ?? []) {
    const key = keyOf(call)
    const words = Object.hasOwn(noted, key) ? noted[key] : await violationOf(call)
    if (typeof words !== 'string') continue
    const { name, args } = call
    calls.push(call)
    actionRequests.push({ name, args, description: `Not run yet: ${words}` })
  }
  const { rejected } = decisionsIn(state)
  if (calls.length === 0) return { [DECISIONS]: { approved: [], rejected } }
  const question = {
    actionRequests,
    reviewConfigs: calls.map(({ name }) => ({
      actionName: name,
      allowedDecisions: ['approve', 'reject'],
    })),
  }
  const decisions = askedUntilKnown(question, calls.length, runtime)
  const refused = calls.flatMap((call, i) => {
    if (!decisions) return [[keyOf(call), 'Nobody can be asked to approve this call']]
    const { type, message } = decisions[i] ?? {}
    const why = typeof message === 'string' && message !== '' ? `: ${message}` : ''
    return type === 'approve' ? [] : [[keyOf(call), `A person rejected this call${why}`]]
  })
  const now = Object.fromEntries(refused)
  const approved = calls.map(keyOf).filter((key) => !Object.hasOwn(now, key))
  // A call that is made again needs a new decision.
  const before = Object.entries(rejected).filter(([key]) => !approved.includes(key))
  return { [DECISIONS]: { approved, rejected: { ...Object.fromEntries(before), ...now } } }
}

/** Returns a person's decisions; null if nobody can be asked. */
function askedUntilKnown(
  question: object,
  count: number,
  { interrupt }: { interrupt?(value: unknown): unknown },
): readonly { type: 'approve' | 'reject'; message?: unknown }[] | null {
  if (!interrupt) return null
  const isKnown = (one: unknown) => /^(approve|reject)$/.test(String(Object(one).type))
  const problem = `Resume with { decisions: […] }, one for each of the ${count} calls in their order: { type: 'approve' } or { type: 'reject', message }`
  let { decisions } = Object(interrupt(question))
  while (!Array.isArray(decisions) || decisions.length !== count || !decisions.every(isKnown)) {
    decisions = Object(interrupt({ ...question, problem })).decisions
  }
  return decisions
}
