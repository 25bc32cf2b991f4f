import type { CallState, ItemState } from '../../content/conversation-state.ts'
import type { CallError, ConversationEvent } from '../../content/events.ts'
import type { JsonValue } from '../../content/json.ts'
import { ByrefError } from '../../errors.ts'
import { isAssetRef } from '../../refs/asset-ref.ts'
import { evaluateVariable, variablesIn } from '../../refs/evaluate-variable.ts'
import { MISSING, resolveFieldPath } from '../../refs/field-path.ts'
import { formatVariableRef, parseVariableRef, type VariableRef } from '../../refs/variable-ref.ts'
import type { RunScope } from '../run-scope.ts'
import type { Tool } from '../tools/tool.ts'
import { callError } from './call-error.ts'
import { type CallPlan, ITEM_KINDS } from './call-plan.ts'
import { type CallOutcome, executeCall } from './execute-call.ts'
import { spill } from './record-call.ts'
import { resolveVariables } from './resolve-arguments.ts'
import { withRetries } from './retry-call.ts'

/** The arguments of one item, with the values of their variables, or why there are none. */
export type MappedArguments =
  | { arguments: Record<string, unknown>; error?: undefined }
  | { arguments?: undefined; error: CallError }

/** More items are refused: a table is for a tool that takes all its rows at once. */
const MAX_ITEMS = 100_000

/**
 * The arguments of every item of a mapped call (spec T16): `†item` and `†index` stand for the item and its index, from
 * 0, in the other arguments.
 *
 * @throws ByrefError where there is no list
 */
export async function mappedArguments(
  { thread, assets }: RunScope,
  plan: CallPlan,
): Promise<MappedArguments[]> {
  const { board } = thread
  const { instance, each } = plan
  const read = (variable: string): unknown => board.read(variable, { instance })
  const items = await listOf(each, read, (ref) => assets.resolve(ref))
  return items.map((item, index): MappedArguments => {
    const own: Record<string, unknown> = { item, index }
    const readHere = (text: string): unknown => readItem(text, own, read)
    try {
      return { arguments: resolveVariables(plan.tool as Tool, plan.arguments, readHere) }
    } catch (error) {
      return { error: callError(error) }
    }
  })
}

async function listOf(
  each: unknown,
  read: (variable: string) => unknown,
  resolve: (ref: string) => Promise<unknown>,
): Promise<readonly unknown[]> {
  const value = typeof each === 'string' && parseVariableRef(each) ? read(each) : each
  const list = typeof value === 'string' && isAssetRef(value) ? await resolve(value) : value
  if (!Array.isArray(list)) {
    throw new ByrefError(
      'invalid_arguments',
      '_each takes a list: a variable such as "†state.comments", the rows of a table such as "asset://id/content/rows", or a list itself',
    )
  }
  if (list.length <= MAX_ITEMS) return list
  throw new ByrefError(
    'invalid_arguments',
    `_each has ${list.length} items, and at most ${MAX_ITEMS} are mapped: pass the list to a tool that takes all of it`,
  )
}

function readItem(
  text: string,
  own: Record<string, unknown>,
  read: (variable: string) => unknown,
): unknown {
  const expression = parseVariableRef(text)
  const isOwn = ({ kind }: VariableRef): boolean => ITEM_KINDS.has(kind)
  if (!expression || !variablesIn(expression).some(isOwn)) return read(text)
  const attempt = (find: () => unknown): unknown => {
    try {
      return find()
    } catch (error) {
      if (error instanceof ByrefError) return MISSING
      throw error
    }
  }
  const value = evaluateVariable(expression, (ref) =>
    attempt(() =>
      isOwn(ref) ? resolveFieldPath(own, [ref.kind, ...ref.path]) : read(formatVariableRef(ref)),
    ),
  )
  if (value !== MISSING) return value
  // Once more, for the reason.
  const [first] = variablesIn(expression).filter(isOwn)
  return resolveFieldPath(own, first ? [first.kind, ...first.path] : [])
}

/**
 * Runs a mapped call: each item begun and logged for itself, so that a crash goes on in the middle. Its value is the
 * list of results in the order of the items; failures are `{ index, error }` in their places.
 */
export async function runMapped(
  scope: RunScope,
  plan: CallPlan,
  items: readonly MappedArguments[],
): Promise<CallOutcome> {
  const state = scope.thread.state.calls[plan.id]
  if (!state?.attempts) {
    const started = { toolCallId: plan.id, runId: scope.runId, attempt: 1, items: items.length }
    await scope.append({ events: [{ type: 'TOOL_STARTED', ...started }] })
  }
  const results = await Promise.all(
    items.map(async (args, index) => {
      const known = state?.items?.[index]
      if (known?.done) return placed(known, index)
      const outcome = await outcomeOf(scope, plan, { args, index, state })
      return placed(outcome, index)
    }),
  )
  return { events: [], value: results }
}

function placed({ value, error }: Partial<ItemState>, index: number): unknown {
  return error ? { index, error } : (value ?? null)
}

interface Item {
  args: MappedArguments
  index: number
  state: CallState | undefined
}

/** Begins one item, runs it and logs its end. */
async function outcomeOf(
  scope: RunScope,
  plan: CallPlan,
  { args, index, state }: Item,
): Promise<Partial<ItemState>> {
  const { runId } = scope
  const ids = { toolCallId: plan.id, runId, item: index }
  const finish = async (
    end: { value?: JsonValue; error?: CallError },
    events: readonly ConversationEvent[] = [],
  ): Promise<Partial<ItemState>> => {
    await scope.append({ events: [...events, { type: 'TOOL_ITEM_FINISHED', ...ids, ...end }] })
    return end
  }
  if (args.error) return finish({ error: args.error })
  const begun = state?.items?.[index]?.attempts ?? 0
  if (begun > 0 && !plan.tool?.idempotent) return finish({ error: interrupted(plan) })
  await scope.slots.take()
  const outcome = await withRetries(scope, plan, begun, async (attempt) => {
    await scope.append({ events: [{ type: 'TOOL_STARTED', ...ids, attempt }] })
    const toolCallId = `${plan.id}/${index}`
    const execution = { plan, toolCallId, arguments: args.arguments, attempt }
    const executed = await executeCall(scope, execution)
    if ('error' in executed) return executed
    return spill(executed, plan, { assets: scope.assets, toolCallId })
  }).finally(scope.slots.free)
  if ('error' in outcome) return finish({ error: outcome.error }, outcome.events)
  return finish({ value: outcome.value as JsonValue }, outcome.events)
}

/** What a person approved, for each item: null for those that had no arguments when they were shown. */
export function approvedArguments(items: JsonValue): MappedArguments[] {
  const message = 'The item had no arguments when the call was approved'
  return (items as (Record<string, unknown> | null)[]).map((args) =>
    args ? { arguments: args } : { error: { code: 'invalid_arguments', message } },
  )
}

/** What the model is told of an execution that was begun and whose end nobody knows. */
export function interrupted({ name, tool }: CallPlan): CallError {
  const hint = tool ? '' : ' (the tool is not there any more)'
  return {
    code: 'interrupted',
    message: `The call of "${name}" was begun and cut off${hint}: it may or may not have had its effect. Find out before you repeat it.`,
  }
}
