import type { Assets } from '../../assets/assets-contract.ts'
import { isPlainJson } from '../../assets/extract/may-hold-assets.ts'
import { heldBody, refIn } from '../../assets/held-body.ts'
import { type CallPlan, isEditTool, isReadingTool } from '../../boundary/call-plan.ts'
import { allRows } from '../../boundary/convert-asset.ts'
import { assetReads, labelsWithin, restoreBytes } from '../../boundary/resolve.ts'
import { lastYield, type StoringCall } from '../../boundary/store.ts'
import type { Tool, ToolContext } from '../../boundary/tool.ts'
import { type Found, labelsOfError } from '../../boundary/value-source.ts'
import { ByrefError } from '../../core/errors.ts'
import type { CallError, ConversationEvent } from '../../core/events/events.ts'
import { textStart } from '../../core/json/cut.ts'
import { isPlainObject, type JsonValue } from '../../core/json/json.ts'
import { TRUSTED } from '../../core/labels/label.ts'
import {
  joinLabel,
  joinTrees,
  type LabelTree,
  treeAt,
  wholeOf,
  withTreeAt,
} from '../../core/labels/label-tree.ts'
import { type OffloadedValue, offloadedField } from '../../core/messages/offloaded.ts'
import { unlessAborted } from '../../core/on-abort.ts'
import {
  type AssetRefParts,
  formatAssetRef,
  isAssetId,
  isAssetRef,
  parseAssetRef,
} from '../../core/refs/asset-ref.ts'
import { parseVariableRef } from '../../core/refs/variable-ref.ts'
import type { CallItem, CallOutcome, ExecutionChanges } from '../../policies/policy.ts'
import { callError } from '../run-errors.ts'
import { type RunScope, workOf } from '../run-scope.ts'
import type { Session } from '../session.ts'
import {
  type ActiveCall,
  type Item,
  openContext,
  type ResolvedItems,
  sourceOf,
} from './active-call.ts'
import { onNewestVersion, withBranchNote } from './edited-place.ts'

/** One execution of a tool, for a call or for one item of a mapped call. */
export interface ExecutedCall {
  call: ActiveCall
  item: CallItem
  /** The call's id. For an item of a mapped call: `<call>/<index>`. */
  toolCallId: string
  /** The number of this attempt, from 1. */
  attempt: number
  /** Logs the start of an attempt. */
  begin(attempt: number): Promise<void>
}

/**
 * Executes a call inside the `aroundCall` of the agent's policies: replaces asset references in its arguments with
 * values, runs the tool, and stores bytes in its result as assets. If the tool fails, the outcome is its error.
 *
 * @throws the signal's reason if the run is over; any error of a policy
 */
export function executeCall(scope: RunScope, executed: ExecutedCall): Promise<CallOutcome> {
  const { aroundCall } = scope.settings.policy
  const perform = async (changes: ExecutionChanges = {}): Promise<CallOutcome> => {
    const { attempt = executed.attempt } = changes
    await executed.begin(attempt)
    return execute(scope, { ...executed, attempt }, changes)
  }
  if (!aroundCall) return scope.during(perform)
  const { call, item, toolCallId, attempt } = executed
  const execution = { ...workOf(scope), ...item, call, tool: call.tool, toolCallId, attempt }
  return scope.during(() => aroundCall(execution, perform))
}

async function execute(
  scope: RunScope,
  { call, item, toolCallId, attempt }: ExecutedCall,
  changes: ExecutionChanges,
): Promise<CallOutcome> {
  const { plan, tool } = call
  const { signal = scope.signal, label, onRead, onWaiting, trust } = changes
  const maker = { by: 'tool', tool: tool.id, toolCallId } as const
  const events: ConversationEvent[] = []
  const onEvent = (event: ConversationEvent) => events.push(event)
  const assets = once(() => {
    const scoped = scope.assets.scoped({ ...maker, onEvent, label })
    return changes.assets?.(scoped, events) ?? scoped
  })
  const parts = { plan, toolCallId, attempt, signal, assets, events, onRead, onWaiting, trust }
  const { context, end, chosen } = openContext(scope, parts)
  const { boundary } = scope
  try {
    const storing = { tool: tool.id, toolCallId, signal, label, onEvent }
    const args = needsReference(call, item)
      ? { ...item.arguments, ref: await savedValue(scope, item.arguments.ref, storing) }
      : item.arguments
    const returned = await unlessAborted(signal, () =>
      boundary.withInput({ tool, arguments: args }, (input) => {
        changes.onInput?.(input)
        const onYield = (value: unknown) => showPreliminary(context, value)
        return lastYield(tool.execute(input, context), { signal, onYield })
      }),
    )
    const result = isEditTool(tool)
      ? withBranchNote(scope.session, item.arguments.ref, returned)
      : returned
    if (isPlainJson(result)) return { value: result, events, chosen: chosen() }
    const stored = await unlessAborted(signal, () => boundary.store(storing, result))
    return { value: stored.value, events, chosen: chosen() }
  } catch (error) {
    scope.signal.throwIfAborted()
    return { error: withHints(callError(error), plan, item), events, chosen: chosen() }
  } finally {
    end()
  }
}

/** Whether a tool that reads assets was called with a variable whose value has no reference. */
function needsReference({ tool, written }: ActiveCall, item: CallItem): boolean {
  if (!isReadingTool(tool) || parseVariableRef(String(written.ref)) === null) return false
  const { ref } = item.arguments
  return !isAssetRef(ref) && !isAssetId(ref) && refIn(ref) === null
}

/** Saves a value for a tool that reads assets, and returns its reference. */
async function savedValue(scope: RunScope, value: unknown, call: StoringCall): Promise<string> {
  const storing = { ...call, maxResultChars: 0 }
  const stored = await scope.boundary.offload(storing, { value, events: [] })
  return offloadedField(stored.value as OffloadedValue, [])
}

/**
 * Adds the fields of a variable's value to an error about arguments, because the model may have meant one of them, such
 * as the image in a result.
 */
function withHints(error: CallError, { arguments: written }: CallPlan, item: CallItem): CallError {
  if (error.code !== 'invalid_arguments') return error
  const hints = Object.entries(written).flatMap(([name, text]) => {
    const value = item.arguments[name]
    const isMeant = typeof text === 'string' && parseVariableRef(text) && isPlainObject(value)
    const isNamed = [' ', ': '].some((end) => error.message.includes(`/${name}${end}`))
    if (!isMeant || !isNamed) return []
    const fields = Object.keys(value)
      .slice(0, MAX_FIELDS)
      .map((key) => JSON.stringify(key))
    return `${text} is an object with the fields ${fields.join(', ')}`
  })
  return hints.length > 0 ? { ...error, message: `${error.message}. ${hints.join('. ')}` } : error
}

/** Number of fields in an error about arguments. */
const MAX_FIELDS = 20

/** Maximum length of a preliminary result that people see, in characters. */
const MAX_PRELIMINARY = 1000

/**
 * Reports a preliminary result as progress. Results with bytes are left out, because the bytes have no reference
 * yet.
 */
function showPreliminary({ progress }: ToolContext, value: unknown): void {
  if (value === undefined || !isPlainJson(value)) return
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  progress(textStart(text, MAX_PRELIMINARY))
}

/** Returns a function that calls `make` once, when it is first needed. Many calls use no assets. */
function once<T>(make: () => T): () => T {
  let made: T | undefined
  return () => {
    made ??= make()
    return made
  }
}

/** Maximum number of items of a mapped call. */
const MAX_ITEMS = 100_000

/**
 * Replaces the variables in a call's arguments with values. In a mapped call, `†item` is the item and `†index` its
 * index, from 0.
 *
 * @param written The arguments as the model wrote them.
 * @throws VariableError; ByrefError `invalid_arguments`, for example if `_each` of a mapped call is not a list
 */
export async function resolveItems(
  scope: RunScope,
  plan: CallPlan,
  written: Record<string, unknown>,
): Promise<ResolvedItems> {
  const { boundary } = scope
  const args = plan.edit ? onNewestVersion(scope.session, plan, written) : written
  const call = { tool: plan.tool as Tool, arguments: args }
  const isMapped = plan.each !== undefined
  if (!isMapped) return { items: [await boundary.resolve(call, sourceOf(scope, plan))] }
  const { value: list, labels } = await mappedList(scope, plan)
  const isWritten = Array.isArray(plan.each)
  const resolve = async (value: unknown, index: number): Promise<Item> => {
    try {
      const item = isWritten
        ? await writtenItem(scope, plan, value)
        : { value, labels: labels && treeAt(labels, [index]) }
      const indexLabels = labels && { label: labels.label }
      const itemValues = { item, index: { value: index, labels: indexLabels } }
      return await boundary.resolve(call, sourceOf(scope, plan, itemValues))
    } catch (error) {
      return { error: callError(error), source: labelsOfError(error) }
    }
  }
  return { items: await Promise.all(list.map(resolve)), each: labels }
}

/** Replaces the variables in one item of a list that the model wrote. */
async function writtenItem(scope: RunScope, plan: CallPlan, written: unknown): Promise<Found> {
  const tool = { ...(plan.tool as Tool), inputSchema: {}, references: 'declared' } as const
  const call = { tool, arguments: { item: written } }
  const source = sourceOf(scope, plan)
  const { arguments: resolved, reads } = await scope.boundary.resolve(call, source)
  let labels: LabelTree = { label: TRUSTED }
  for (const { path, labels: read } of reads)
    labels = withTreeAt(labels, path, joinTrees(treeAt(labels, path), read))
  return { value: resolved.item, labels: reads.length > 0 ? treeAt(labels, ['item']) : undefined }
}

/** Returns logged arguments with the bytes that references replaced in the log. */
export async function withBytes(
  { session, assets }: Pick<RunScope, 'session' | 'assets'>,
  { id }: Pick<CallPlan, 'id'>,
  logged: Record<string, unknown>,
): Promise<Record<string, unknown>> {
  const refs = new Set(ownAssets(session, id).map(({ ref }) => ref))
  // Approved arguments contain the values of variables, which may be nested to any depth.
  return refs.size === 0 ? logged : restoreBytes(logged, refs, assets)
}

/** Returns the assets that a call has created: from its arguments, and while it ran. */
export function ownAssets({ state }: Session, callId: string): readonly { ref: string }[] {
  return state.assets.filter(({ toolCallId }) => toolCallId === callId)
}

/** Returns the items with the arguments that a person approved. An item that had no arguments then gets an error. */
export async function approvedItems(
  scope: RunScope,
  plan: CallPlan,
  approved: JsonValue,
): Promise<ResolvedItems> {
  const logged = plan.each === undefined ? [approved] : approved
  const { all } = await withBytes(scope, plan, { all: logged })
  const message = 'The item had no arguments when the call was approved'
  const { labelsOf } = sourceOf(scope, plan)
  const items = (all as (Record<string, unknown> | null)[]).map(async (args): Promise<Item> => {
    if (!args) return { error: { code: 'invalid_arguments', message } }
    return {
      arguments: args,
      reads: labelsOf ? await assetReads(args, labelsOf, scope.assets) : [],
    }
  })
  return { items: await Promise.all(items) }
}

/** Returns the value of a reference. Of a table, only the rows. */
async function listAt(parts: AssetRefParts, assets: Assets): Promise<unknown> {
  const ref = (await heldBody(parts, assets))?.ref ?? formatAssetRef(parts)
  const value = await assets.resolve(ref)
  return Array.isArray(value) ? value : ((await allRows(ref, value, assets)) ?? value)
}

/** Returns the value of `_each`. */
async function mappedList(
  scope: RunScope,
  plan: CallPlan,
): Promise<Found & { value: readonly unknown[] }> {
  const { each } = plan
  const source = sourceOf(scope, plan)
  const isVariable = typeof each === 'string' && parseVariableRef(each) !== null
  let found: Found = isVariable
    ? await source.read(each)
    : { value: (await withBytes(scope, plan, { each })).each }
  const { value } = found
  const ref = typeof value === 'string' && isAssetRef(value) ? value : refIn(value)
  const parts = ref && parseAssetRef(ref)
  if (parts) {
    const { labelsOf } = source
    const content = labelsOf && (await labelsWithin(parts, labelsOf, scope.assets))
    const read = found.labels ? wholeOf(found.labels) : null
    found = {
      value: await listAt(parts, scope.assets),
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
