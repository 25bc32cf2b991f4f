import type { Assets } from '../../assets/assets-contract.ts'
import type { CallPlan } from '../../boundary/call-plan.ts'
import { createDataReader, type DataReader } from '../../boundary/data-reader.ts'
import { offload } from '../../boundary/offload.ts'
import { resolveVariables } from '../../boundary/resolve-variables.ts'
import type { Tool } from '../../boundary/tool.ts'
import { ByrefError } from '../../core/errors.ts'
import type { CallState, ItemState } from '../../core/events/conversation-state.ts'
import type { CallError } from '../../core/events/events.ts'
import type { JsonValue } from '../../core/json/json.ts'
import { writeLabelTree } from '../../core/labels/label-tree.ts'
import { isAssetRef } from '../../core/refs/asset-ref.ts'
import { parseVariableRef } from '../../core/refs/variable-ref.ts'
import type { CallLabels } from '../../policies/trust/call-labels.ts'
import { labelledOffload, listLabels } from '../../policies/trust/result-labels.ts'
import type { RunScope } from '../run-scope.ts'
import { callError } from './call-error.ts'
import type { CallOutcome } from './call-outcome.ts'
import { executeCall } from './execute-call.ts'
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
export async function mappedArguments(scope: RunScope, plan: CallPlan): Promise<MappedArguments[]> {
  const items = await scope.during(() =>
    listOf(plan.each, createDataReader(scope, plan), scope.assets),
  )
  const resolve = async (item: unknown, index: number): Promise<MappedArguments> => {
    const reader = createDataReader(scope, plan, { item, index })
    try {
      const source = { reader, assets: () => scope.assets }
      return { arguments: await resolveVariables(plan.tool as Tool, plan.arguments, source) }
    } catch (error) {
      return { error: callError(error) }
    }
  }
  return scope.during(() => Promise.all(items.map(resolve)))
}

async function listOf(
  each: unknown,
  reader: DataReader,
  assets: Assets,
): Promise<readonly unknown[]> {
  const isVariable = typeof each === 'string' && parseVariableRef(each) !== null
  const value = isVariable ? await reader.read(each) : each
  const list = typeof value === 'string' && isAssetRef(value) ? await assets.resolve(value) : value
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

/**
 * Runs a mapped call: each item begun and logged for itself, so that a crash goes on in the middle. Its value is the
 * list of results in the order of the items; failures are `{ index, error }` in their places.
 */
export async function runMapped(
  scope: RunScope,
  plan: CallPlan,
  items: readonly MappedArguments[],
  labels: CallLabels | null,
): Promise<CallOutcome> {
  const state = scope.session.state.calls[plan.id]
  if (!state?.attempts) {
    const started = { toolCallId: plan.id, runId: scope.runId, attempt: 1, items: items.length }
    await scope.append({ events: [{ type: 'TOOL_STARTED', ...started }] })
  }
  const results = await Promise.all(
    items.map(async (args, index) => {
      const known = state?.items?.[index]
      if (known?.done) return placed(known, index)
      const outcome = await outcomeOf(scope, plan, { args, index, state, labels })
      return placed(outcome, index)
    }),
  )
  const each = scope.session.labels?.items(plan.id).values()
  return {
    events: [],
    value: results,
    ...(labels && each ? { labels: listLabels(each, labels.all) } : {}),
  }
}

function placed({ value, error }: Partial<ItemState>, index: number): unknown {
  return error ? { index, error } : (value ?? null)
}

interface Item {
  args: MappedArguments
  index: number
  state: CallState | undefined
  labels: CallLabels | null
}

const NONE: Pick<CallOutcome, 'events' | 'labels'> = { events: [] }

/** Begins one item, runs it and logs its end. */
async function outcomeOf(
  scope: RunScope,
  plan: CallPlan,
  { args, index, state, labels }: Item,
): Promise<Partial<ItemState>> {
  const { runId } = scope
  const ids = { toolCallId: plan.id, runId, item: index }
  const finish = async (
    end: { value?: JsonValue; error?: CallError },
    { events, labels: tree }: Pick<CallOutcome, 'events' | 'labels'> = NONE,
  ): Promise<Partial<ItemState>> => {
    const own = tree ?? (labels ? { label: labels.all } : undefined)
    const label = own ? { label: writeLabelTree(own) } : {}
    await scope.append({
      events: [...events, { type: 'TOOL_ITEM_FINISHED', ...ids, ...end, ...label }],
    })
    return end
  }
  if (args.error) return finish({ error: args.error })
  const begun = state?.items?.[index]?.attempts ?? 0
  if (begun > 0 && !plan.tool?.idempotent) return finish({ error: interrupted(plan) })
  await scope.slots.take()
  const outcome = await withRetries(scope, plan, begun, async (attempt) => {
    await scope.append({ events: [{ type: 'TOOL_STARTED', ...ids, attempt }] })
    const toolCallId = `${plan.id}/${index}`
    const execution = { plan, toolCallId, arguments: args.arguments, attempt, labels }
    const executed = await executeCall(scope, execution)
    if ('error' in executed) return executed
    const offloaded = await scope.during(() =>
      offload(executed, plan, { assets: scope.assets, toolCallId }),
    )
    const { labels: tree } = executed
    return tree ? { ...offloaded, events: labelledOffload(offloaded.events, tree) } : offloaded
  }).finally(scope.slots.free)
  if ('error' in outcome) return finish({ error: outcome.error }, outcome)
  return finish({ value: outcome.value as JsonValue }, outcome)
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
