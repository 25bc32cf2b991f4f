import { boundaryOf } from '../../boundary/boundary.ts'
import type { CallPlan } from '../../boundary/call-plan.ts'
import { assetReads } from '../../boundary/resolve.ts'
import type { Tool } from '../../boundary/tool.ts'
import {
  ConversationSource,
  type Found,
  labelsOfError,
  type ReadingCall,
  sourceLabels,
} from '../../boundary/value-source.ts'
import { ByrefError } from '../../core/errors.ts'
import type { CallError } from '../../core/events/events.ts'
import type { JsonValue } from '../../core/json/json.ts'
import { joinLabel, type LabelTree, treeAt, wholeOf } from '../../core/labels/label-tree.ts'
import { type AssetRefParts, isAssetRef, parseAssetRef } from '../../core/refs/asset-ref.ts'
import { parseVariableRef } from '../../core/refs/variable-ref.ts'
import type { CallItem } from '../../policies/policy.ts'
import type { RunScope } from '../run-scope.ts'
import { callError } from './call-error.ts'

/** What one execution of a call runs with, or why it cannot run. */
export type Item =
  | (CallItem & { error?: undefined })
  | { error: CallError; source?: LabelTree; arguments?: undefined }

/** A call with the values of its variables: one item, or of a mapped call one for each entry of its list. */
export interface ResolvedItems {
  items: readonly Item[]
  /** Of the list that the call is mapped over. */
  each?: LabelTree
}

/** Maximum number of items of a mapped call. */
const MAX_ITEMS = 100_000

/** Where the `†` variables of a call get their values. */
export function sourceOf(
  { session, assets }: Pick<RunScope, 'session' | 'assets'>,
  { id, instance }: Pick<CallPlan, 'id' | 'instance'>,
  own?: ReadingCall['own'],
): ConversationSource {
  const { board, results, labels, state } = session
  const from = { board, results, calls: state.calls, assets }
  return new ConversationSource(labels ? { ...from, labels: sourceLabels(labels, assets) } : from, {
    id,
    instance,
    own,
  })
}

/**
 * Resolves the variables of a call. In a mapped call `†item` and `†index` stand for the entry and its index, from 0.
 *
 * @param written The arguments as the model wrote them.
 * @throws VariableError; ByrefError `invalid_arguments`, also where a mapped call has no list
 */
export async function resolveItems(
  scope: RunScope,
  plan: CallPlan,
  written: Record<string, unknown>,
): Promise<ResolvedItems> {
  const boundary = boundaryOf(() => scope.assets)
  const call = { tool: plan.tool as Tool, arguments: written }
  const isMapped = plan.each !== undefined
  if (!isMapped) return { items: [await boundary.resolve(call, sourceOf(scope, plan))] }
  const { value: list, labels } = await listOf(scope, plan)
  const resolve = async (value: unknown, index: number): Promise<Item> => {
    const item = { value, labels: labels && treeAt(labels, [index]) }
    const own = { item, index: { value: index, labels: labels && { label: labels.label } } }
    try {
      return await boundary.resolve(call, sourceOf(scope, plan, own))
    } catch (error) {
      return { error: callError(error), source: labelsOfError(error) }
    }
  }
  return { items: await Promise.all(list.map(resolve)), each: labels }
}

/** What a person approved. Items that had no arguments when they were shown are null. */
export async function approvedItems(
  scope: RunScope,
  plan: CallPlan,
  approved: JsonValue,
): Promise<ResolvedItems> {
  const all = (plan.each === undefined ? [approved] : approved) as (Record<
    string,
    unknown
  > | null)[]
  const message = 'The item had no arguments when the call was approved'
  const { labelsOf } = sourceOf(scope, plan)
  const items = all.map(async (args): Promise<Item> => {
    if (!args) return { error: { code: 'invalid_arguments', message } }
    return { arguments: args, reads: labelsOf ? await assetReads(args, labelsOf) : [] }
  })
  return { items: await Promise.all(items) }
}

async function listOf(
  scope: RunScope,
  plan: CallPlan,
): Promise<Found & { value: readonly unknown[] }> {
  const { each } = plan
  const source = sourceOf(scope, plan)
  const isVariable = typeof each === 'string' && parseVariableRef(each) !== null
  let found: Found = isVariable ? await source.read(each) : { value: each }
  const ref = found.value
  if (typeof ref === 'string' && isAssetRef(ref)) {
    const content = await source.labelsOf?.(parseAssetRef(ref) as AssetRefParts)
    const read = found.labels ? wholeOf(found.labels) : null
    found = {
      value: await scope.assets.resolve(ref),
      labels: content && read ? joinLabel(content, read) : content,
    }
  }
  const { value: list, labels } = found
  if (!Array.isArray(list)) {
    throw new ByrefError(
      'invalid_arguments',
      '_each takes a list: a variable such as "†state.comments", the rows of a table such as "asset://id/content/rows", or a list itself',
    )
  }
  if (list.length <= MAX_ITEMS) return { value: list, labels }
  throw new ByrefError(
    'invalid_arguments',
    `_each has ${list.length} items, and at most ${MAX_ITEMS} are mapped: pass the list to a tool that takes all of it`,
  )
}
