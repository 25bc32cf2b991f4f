import type { Assets } from '../assets/assets-contract.ts'
import { boundaryOf } from '../boundary/boundary.ts'
import { assetReads } from '../boundary/resolve.ts'
import type { Tool } from '../boundary/tool.ts'
import { sourceLabels } from '../boundary/value-source.ts'
import { ByrefError } from '../core/errors.ts'
import type { ConversationEvent } from '../core/events/events.ts'
import { copyJson } from '../core/json/copy-json.ts'
import type { JsonValue } from '../core/json/json.ts'
import { type Label, mayRead, readLabel } from '../core/labels/label.ts'
import { wholeOf } from '../core/labels/label-tree.ts'
import type { Session } from '../engine/session.ts'

/** What a person says about a call. */
export interface ApprovalAnswer {
  approved: boolean
  /** Who says it: where a call was given what is private, one of its readers. */
  by?: string
  /** Told to the model where it was refused. */
  reason?: string
  /** What runs instead of what was shown; of a mapped call, a list with the arguments of each item. */
  arguments?: unknown
  /**
   * The call's result, made elsewhere: then nothing runs. It may hold bytes and data URLs, which become assets. Of a mapped
   * call, a list.
   */
  result?: unknown
}

/** What changed arguments are checked with: the tools, and the assets of the conversation's namespace. */
interface CheckedWith {
  tools: ReadonlyMap<string, Tool>
  assets: Assets
}

/**
 * Logs the answer about a call that waits, once.
 *
 * @throws ByrefError `approval_answered` for a call that waits for nobody, `invalid_arguments` for changed arguments
 *   that its tool does not take, `forbidden` for somebody who may not read what it was given; the call then waits on
 */
export async function answerApproval(
  checkedWith: CheckedWith,
  session: Session,
  toolCallId: string,
  { approved, by, reason, arguments: changed, result: given }: ApprovalAnswer,
): Promise<void> {
  // The question may be another process's, of a moment ago.
  if (session.state.calls[toolCallId]?.status !== 'waiting') await session.refresh()
  const asked = session.state.calls[toolCallId]
  if (asked?.status !== 'waiting') throw notWaiting(toolCallId, asked)
  if (by !== undefined) refuseStranger(by, asked, readLabel(asked.approval?.label ?? {}))
  const args = approved && changed !== undefined ? copyJson(changed) : undefined
  if (args !== undefined) await checkChanged(checkedWith, asked, args)
  if (by !== undefined && session.labels) {
    const { asset } = sourceLabels(session.labels, checkedWith.assets)
    const reads = await assetReads([args, given], async (ref) => asset(ref))
    for (const { labels } of reads) refuseStranger(by, asked, wholeOf(labels))
  }
  const result =
    approved && given !== undefined
      ? await givenResult(given, asked, checkedWith.assets)
      : { value: undefined, events: [] }
  await session.append((state) => {
    const call = state.calls[toolCallId]
    if (call?.status !== 'waiting' || call.runId === undefined) throw notWaiting(toolCallId, call)
    const answer: ConversationEvent = {
      type: 'APPROVAL_ANSWERED',
      toolCallId,
      runId: call.runId,
      approved,
      ...(by === undefined ? {} : { by }),
      ...(reason === undefined ? {} : { reason }),
      ...(args === undefined ? {} : { arguments: args }),
      ...(result.value === undefined ? {} : { result: result.value }),
    }
    return { events: [...result.events, answer] }
  })
}

/** What a call was given is shown to who answers about it. */
function refuseStranger(by: string, { id }: Call, label: Label): void {
  if (mayRead(by, label)) return
  throw new ByrefError(
    'forbidden',
    `The call "${id}" was given what "${by}" may not read: somebody else has to answer`,
  )
}

type Call = Session['state']['calls'][string]

/** As a tool's own result: JSON, with its bytes as references. */
async function givenResult(
  given: unknown,
  { id, name }: Call,
  assets: Assets,
): Promise<{ value: JsonValue; events: ConversationEvent[] }> {
  const maker = { tool: name, toolCallId: id }
  const { value, events } = await boundaryOf(() => assets).store(maker, given)
  return { value, events: [...events] }
}

async function checkChanged(
  { tools, assets }: CheckedWith,
  call: Call,
  args: JsonValue,
): Promise<void> {
  const tool = tools.get(call.name)
  // A tool that is not there says so when the call runs.
  if (!tool || !call.approval) return
  const isMapped = call.approval.items !== undefined
  if (isMapped && (!Array.isArray(args) || args.length !== call.approval.items?.length)) {
    throw new ByrefError(
      'invalid_arguments',
      `The call is mapped over ${call.approval.items?.length} items: give the arguments of each, in a list`,
    )
  }
  const boundary = boundaryOf(() => assets)
  for (const one of (isMapped ? args : [args]) as (Record<string, unknown> | null)[]) {
    if (one) await boundary.withInput({ tool, arguments: one }, () => {})
  }
}

function notWaiting(toolCallId: string, call: Call | undefined): ByrefError {
  const why = !call
    ? 'there is no such call'
    : call.approval?.answer
      ? `it was ${call.approval.answer.approved ? 'approved' : 'refused'} at ${call.approval.answer.at}`
      : `it is ${call.status}`
  return new ByrefError('approval_answered', `The call "${toolCallId}" waits for no answer: ${why}`)
}
