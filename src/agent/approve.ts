import type { Assets } from '../assets/assets-contract.ts'
import { mayHoldAssets } from '../assets/extract/may-hold-assets.ts'
import { boundaryOf } from '../boundary/boundary.ts'
import { assetReads } from '../boundary/resolve.ts'
import { storeArguments } from '../boundary/store.ts'
import { CLIENT_TOOL } from '../boundary/tool.ts'
import { sourceLabels } from '../boundary/value-source.ts'
import { defined } from '../core/defined.ts'
import { ByrefError } from '../core/errors.ts'
import { waitingCalls } from '../core/events/conversation-state.ts'
import type { ConversationEvent } from '../core/events/events.ts'
import { copyJson } from '../core/json/copy-json.ts'
import { isPlainObject, type JsonValue } from '../core/json/json.ts'
import { type Label, mayRead, readLabel } from '../core/labels/label.ts'
import { wholeOf } from '../core/labels/label-tree.ts'
import { withBytes } from '../engine/calls/execute-call.ts'
import { subConversationId } from '../engine/cancel.ts'
import { checkAgentName, checkToolExists } from '../engine/next.ts'
import type { AgentSettings } from '../engine/run-settings.ts'
import type { Session } from '../engine/session.ts'
import { isSubRun } from '../engine/sessions.ts'

/** A person's answer to an approval request. */
export interface ApprovalAnswer {
  approved: boolean
  /** Who answers, for the log. If the data of the call names readers, this must be one of them. */
  by?: string
  /** The reason. The model sees it if the call was denied. */
  reason?: string
  /** Arguments that replace the proposed ones. For a mapped call, a list with the arguments of each item. */
  arguments?: unknown
  /**
   * The call's result, if it was produced elsewhere. The tool then does not run. Bytes and data URLs in it become
   * assets. For a mapped call, a list with the result of each item.
   */
  result?: unknown
}

/** The agent settings and assets that an answer is checked against. */
type CheckedWith = Pick<AgentSettings, 'name' | 'tools' | 'assets'> & {
  /** Whether workers run the calls. Their tools may differ from this agent's. */
  hasWorkers: boolean
}

/** A call of a sub-agent, as it is named in the conversation that it works for and in its own. */
interface SubAgentCall {
  /** The tool that is the sub-agent. */
  tool: string
  conversation: string
  toolCallId: string
}

/** Returns the call of a sub-agent that an approval request names. Null for a call of the conversation itself. */
export async function subAgentCall(
  session: Session,
  toolCallId: string,
): Promise<SubAgentCall | null> {
  const find = () => Object.values(session.state.calls).find((call) => call.subCalls?.[toolCallId])
  if (session.state.calls[toolCallId]) return null
  // Another process may have logged the request just now.
  if (!find()) await session.refresh()
  const call = find()
  const { parentToolCallId } = call?.subCalls?.[toolCallId] ?? {}
  if (!call || parentToolCallId === undefined) return null
  return {
    tool: call.name,
    conversation: subConversationId(session.id, parentToolCallId),
    toolCallId: toolCallId.slice(parentToolCallId.length + 1),
  }
}

/**
 * Logs the answer for a waiting call, once. If it throws, the call still waits.
 *
 * @throws ByrefError `call_not_found`; `approval_answered` if the call does not wait for an approval;
 *   `agent_not_found` or `tool_not_found` if the run needs another agent; `invalid_arguments` if the tool does not
 *   accept the changed arguments, or if it has no `execute` and the result is missing; `forbidden` if `by` may not
 *   read the data that the call received
 */
export async function answerApproval(
  checkedWith: CheckedWith,
  session: Session,
  toolCallId: string,
  { approved, by, reason, arguments: changed, result: given }: ApprovalAnswer,
): Promise<void> {
  // Another process may have logged the request just now.
  if (session.state.calls[toolCallId]?.status !== 'waiting') await session.refresh()
  const call = session.state.calls[toolCallId]
  if (!call) throw noSuchCall(toolCallId, session)
  if (call.status !== 'waiting') throw notWaiting(call)
  const args = approved && (changed ?? null) !== null ? copyJson(changed) : undefined
  // If no agent can act on the answer, it is not logged. The run of a sub-agent continues with the call that started
  // it.
  if (!isSubRun(session)) {
    checkAgentName(session, checkedWith.name)
    const runsHere = approved && given === undefined && !checkedWith.hasWorkers
    if (runsHere || args !== undefined) checkToolExists(session, call, checkedWith.tools)
    const tool = checkedWith.tools.get(call.name)
    if (runsHere && tool && CLIENT_TOOL in tool.execute) throw needsResult(call)
  }
  if (by !== undefined) checkApprover(by, call, readLabel(call.approval?.label ?? {}))
  if (args !== undefined) await checkChanged(checkedWith, session, call, args)
  if (by !== undefined && session.labels) {
    const { asset } = sourceLabels(session.labels, checkedWith.assets)
    const reads = await assetReads([args, given], asset, checkedWith.assets)
    for (const { labels } of reads) checkApprover(by, call, wholeOf(labels))
  }
  const changedTo = await storedArguments(args, call, checkedWith.assets)
  const result = await storedResult(approved ? given : undefined, call, checkedWith.assets)
  await session.append((state) => {
    const call = state.calls[toolCallId]
    if (!call) throw noSuchCall(toolCallId, session)
    if (call.status !== 'waiting' || call.runId === undefined) throw notWaiting(call)
    const answer = defined<ConversationEvent>({
      type: 'APPROVAL_ANSWERED',
      toolCallId,
      runId: call.runId,
      approved,
      by,
      reason,
      arguments: changedTo.value,
      result: result.value,
    })
    return { events: [...changedTo.events, ...result.events, answer] }
  })
}

function needsResult({ id, name }: Call): ByrefError {
  return new ByrefError(
    'invalid_arguments',
    `"${name}" has no execute function, so the answer to the call "${id}" needs its result: { approved: true, result }. Or deny the call.`,
  )
}

/** The approver sees the call's arguments, so the approver must be allowed to read them. */
function checkApprover(by: string, { id }: Call, label: Label): void {
  if (mayRead(by, label)) return
  throw new ByrefError(
    'forbidden',
    `"${by}" may not read the data that the call "${id}" received. Another person has to answer.`,
  )
}

type Call = Session['state']['calls'][string]

interface Stored {
  value: JsonValue | undefined
  events: readonly ConversationEvent[]
}

/** Stores the given result as if the tool had returned it: as JSON, with references in place of bytes. */
async function storedResult(given: unknown, { id, name }: Call, assets: Assets): Promise<Stored> {
  if (given === undefined) return { value: undefined, events: [] }
  return boundaryOf(() => assets).store({ tool: name, toolCallId: id }, given)
}

/** Stores arguments as if the model had written them. */
async function storedArguments(
  args: JsonValue | undefined,
  { id, name }: Call,
  assets: Assets,
): Promise<Stored> {
  const events: ConversationEvent[] = []
  if (args === undefined || !mayHoldAssets(args)) return { value: args, events }
  const onEvent = (event: ConversationEvent) => events.push(event)
  const storing = { tool: name, toolCallId: id, onEvent }
  const store = async (one: JsonValue) => {
    return isPlainObject(one) ? (await storeArguments(storing, one, assets)).logged : one
  }
  const value = Array.isArray(args) ? await Promise.all(args.map(store)) : await store(args)
  return { value: value as JsonValue, events }
}

async function checkChanged(
  { tools, assets }: CheckedWith,
  session: Session,
  call: Call,
  args: JsonValue,
): Promise<void> {
  const tool = tools.get(call.name)
  // A sub-agent's tool is checked when the call runs.
  if (!tool || !call.approval) return
  const isMapped = call.approval.items !== undefined
  if (isMapped && (!Array.isArray(args) || args.length !== call.approval.items?.length)) {
    throw new ByrefError(
      'invalid_arguments',
      `The call is mapped over ${call.approval.items?.length} items: pass a list with the arguments of each item`,
    )
  }
  const boundary = boundaryOf(() => assets)
  for (const itemArgs of (isMapped ? args : [args]) as (Record<string, unknown> | null)[]) {
    if (!itemArgs) continue
    const original = await withBytes({ session, assets }, call, itemArgs)
    await boundary.withInput({ tool, arguments: original }, () => {})
  }
}

function noSuchCall(toolCallId: string, { id, state }: Session): ByrefError {
  const waiting = waitingCalls(state)
  const names = waiting.map((call) => `"${call.id}" (${call.name})`).join(', ')
  return new ByrefError(
    'call_not_found',
    `The conversation "${id}" has no call "${toolCallId}". Calls that wait for an answer: ${names || 'none'}.`,
  )
}

function notWaiting({ id, status, approval }: Call): ByrefError {
  const { answer } = approval ?? {}
  let why = status === 'unanswered' ? 'its run has ended' : `it is ${status}`
  if (answer) why = `it was ${answer.approved ? 'approved' : 'denied'} at ${answer.at}`
  return new ByrefError(
    'approval_answered',
    `The call "${id}" does not wait for an approval: ${why}`,
  )
}
