import { fetchAssetTool, saveAssetTool, searchAssetTool } from '../assets/asset-tools.ts'
import { editAssetTool } from '../assets/edit/edit-asset-tool.ts'
import { queryTablesTool, withVariableTables } from '../assets/tables/query-tables-tool.ts'
import { ByrefError } from '../core/errors.ts'
import type { CallError } from '../core/events/events.ts'
import { OUTPUT_METHODS } from '../core/messages/data-block.ts'
import type { OutputMethod, ToolCall } from '../core/messages/message.ts'
import { RESULT } from '../core/messages/results.ts'
import type { FieldKey } from '../core/refs/field-key.ts'
import { ownInstance } from '../core/refs/own-instance.ts'
import { variablesInText } from '../core/refs/text-marks.ts'
import {
  type OutputTarget,
  parseOutputPath,
  parseVariableRef,
  variablesIn,
} from '../core/refs/variable-ref.ts'
import { type PlannedEdit, planEdit, withEditedRef } from './edit-plan.ts'
import { mapsOver, type Tool } from './tool.ts'
import { noSuchTool } from './tool-index.ts'
import { SEARCH_TOOLS } from './tool-search.ts'

/** A place on the board: a value and everything below it. Without an instance, it is the global value of the kind. */
export interface DataPlace {
  kind: string
  instance?: string
  path: readonly FieldKey[]
}

/** One `†` expression in a call's arguments, with the places that it may read. */
export interface CallRead {
  /** The expression as text. */
  text: string
  places: readonly DataPlace[]
  /** Whether its references may have no value: it has alternatives or conditions, or the tool gets it as text. */
  optional: boolean
}

/** The plan of a call. It depends only on the call and the tools. */
export interface CallPlan {
  id: string
  name: string
  /** Null if there is no such tool. */
  tool: Tool | null
  /** The instance that it reads first, and writes to. */
  instance?: string
  /** The tool's own arguments, without the parameters that byref adds. */
  arguments: Record<string, unknown>
  reads: readonly CallRead[]
  /** Where its result is written: a list of alternatives (`||`), each a list of targets (`&&`). */
  outputs: readonly (readonly OutputTarget[])[]
  outputMethod: OutputMethod
  /** What a call of `edit_asset` edits. */
  edit?: PlannedEdit
  /** The value of `_each`, which a mapped call runs over; else undefined. */
  each?: unknown
  /** Why the call cannot run. */
  problem: CallError | null
}

/** The variables for the item and its index in a mapped call. */
export const ITEM_KINDS: ReadonlySet<string> = new Set(['item', 'index'])

/**
 * Plans a call. `tools` are the agent's tools by id. Never throws: if the call is invalid, the plan has a
 * `problem`.
 *
 * @param knownProblem A problem of the arguments that is already known.
 */
export function planCall(
  call: ToolCall,
  tools: ReadonlyMap<string, Tool>,
  knownProblem?: string,
): CallPlan {
  const tool = tools.get(call.name) ?? null
  const { _outputPath, _outputMethod, _instance, _each, ...written } = Object(call.arguments)
  const args = tool ? normalArguments(tool, written) : written
  const instance = ownInstance(call.arguments)
  const plan: CallPlan = {
    id: call.id,
    name: call.name,
    tool,
    instance,
    arguments: args,
    reads: [],
    outputs: [],
    outputMethod: 'set',
    problem: tool ? null : notFound(call.name, tools),
  }
  if (knownProblem !== undefined)
    plan.problem = { code: 'invalid_arguments', message: knownProblem }
  try {
    // Also for a call that cannot run: calls that read its outputs must fail, instead of reading older values.
    plan.outputs = outputsOf(tool, _outputPath, instance)
    if (!tool || plan.problem) return plan
    if (instance === undefined && (_instance ?? '') !== '') throw invalid('_instance must be text')
    plan.each = readEach(tool, _each)
    plan.outputMethod = methodOf(tool, _outputMethod)
    const found = readsOf(args, plan)
    // A tool that gets references as text may read their values itself, as ask_about does.
    const isText = tool.variables === false
    const reads = isText ? found.map((read) => ({ ...read, optional: true })) : found
    plan.reads = [...reads, ...readsOf(_each, plan)]
    if (isEditTool(tool) && plan.each === undefined) Object.assign(plan, planEdit(plan))
  } catch (error) {
    plan.problem ??= {
      code: error instanceof ByrefError ? error.code : 'invalid_arguments',
      message: error instanceof Error ? error.message : 'The arguments cannot be read',
    }
  }
  return plan
}

/** Returns the arguments of `edit_asset` and `query_tables` in the form in which the call reads them. */
function normalArguments(tool: Tool, args: Record<string, unknown>): Record<string, unknown> {
  if (isEditTool(tool)) return withEditedRef(args)
  return tool.execute === queryTablesTool.execute ? withVariableTables(args) : args
}

/** Whether a tool is `edit_asset`, and not an app's own tool of that name. */
export function isEditTool(tool: Tool): boolean {
  return tool.execute === editAssetTool.execute
}

/** Whether a tool is `fetch_asset` or `search_asset`, and not an app's own tool of that name. */
export function isReadingTool({ execute }: Tool): boolean {
  return execute === fetchAssetTool.execute || execute === searchAssetTool.execute
}

/** Whether a tool is `save_asset`, and not an app's own tool of that name. */
export function isSaveTool({ execute }: Tool): boolean {
  return execute === saveAssetTool.execute
}

/** Maximum number of tools that an error lists. */
const MAX_LISTED = 30

function notFound(name: string, tools: ReadonlyMap<string, Tool>): CallError {
  const ids = [...tools.keys()]
  const hint = tools.has(SEARCH_TOOLS) ? ` Find tools with ${SEARCH_TOOLS}.` : ''
  const message =
    ids.length <= MAX_LISTED
      ? `There is no tool "${name}". The tools are: ${ids.join(', ') || 'none'}`
      : `${noSuchTool(name, ids)}${hint}`
  return { code: 'tool_not_found', message }
}

function readEach(tool: Tool, each: unknown): unknown {
  if (each === undefined || each === null || each === '') return undefined
  if (mapsOver(tool)) return each
  throw invalid(`The tool "${tool.id}" cannot be mapped: call it without _each, once for each item`)
}

function invalid(message: string): ByrefError {
  return new ByrefError('invalid_arguments', message)
}

function outputsOf(
  tool: Tool | null,
  requested: unknown,
  instance: string | undefined,
): OutputTarget[][] {
  const fixed = tool?.outputPath ?? true
  const path = typeof fixed === 'string' ? fixed : requested
  if (path === undefined || path === null || path === '') return []
  if (fixed === false) {
    const id = JSON.stringify(tool?.id)
    throw invalid(`The tool ${id} does not write its result: call it without _outputPath`)
  }
  return parseOutputPath(String(path)).map((targets) => {
    return targets.map((target) => {
      if (target.kind === RESULT) {
        throw new ByrefError(
          'invalid_reference',
          '†result names the results of calls: write to another kind',
        )
      }
      return instance === undefined ? target : { instance, ...target }
    })
  })
}

function methodOf(tool: Tool, requested: unknown): OutputMethod {
  const method = tool.outputMethod ?? (requested === '' ? 'set' : (requested ?? 'set'))
  const known = OUTPUT_METHODS.find((one) => one === String(method))
  if (known) return known
  throw invalid(
    `_outputMethod must be one of ${OUTPUT_METHODS.join(', ')}, not ${JSON.stringify(method)}`,
  )
}

/** Returns every `†` expression in a value, at any depth, including embedded references. */
function readsOf(values: unknown, { instance, each }: CallPlan): CallRead[] {
  const reads: CallRead[] = []
  const stack: unknown[] = [values]
  while (stack.length > 0) {
    const value = stack.pop()
    if (typeof value === 'string') {
      for (const text of value.includes('†') ? expressionsIn(value) : []) {
        const read = readOf(text, instance, each !== undefined)
        if (read) reads.push(read)
      }
    } else if (typeof value === 'object' && value !== null) {
      for (const item of Object.values(value)) stack.push(item)
    }
  }
  return reads
}

function expressionsIn(text: string): string[] {
  return parseVariableRef(text) ? [text] : variablesInText(text)
}

/** Returns what an expression reads from the board. Null if it reads nothing that a call of the answer can write. */
function readOf(text: string, instance: string | undefined, mapped: boolean): CallRead | null {
  const expression = parseVariableRef(text)
  if (!expression) return null
  const refs = variablesIn(expression).filter(({ kind }) => {
    return kind !== RESULT && !(mapped && ITEM_KINDS.has(kind))
  })
  if (refs.length === 0) return null
  const places = refs.flatMap((ref): DataPlace[] => {
    if (ref.instance !== undefined || instance === undefined) return [ref]
    // The instance comes first, then the global value.
    return [{ ...ref, instance }, ref]
  })
  return { text, places, optional: expression.type !== 'variable' }
}
