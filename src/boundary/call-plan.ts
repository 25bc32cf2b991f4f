import { ByrefError } from '../core/errors.ts'
import type { CallError } from '../core/events/events.ts'
import type { OutputMethod, ToolCall } from '../core/messages/message.ts'
import { RESULT } from '../core/messages/results.ts'
import { variablesIn } from '../core/refs/evaluate-variable.ts'
import type { FieldKey } from '../core/refs/field-key.ts'
import { type OutputTarget, parseOutputPath } from '../core/refs/output-path.ts'
import { variablesInText } from '../core/refs/text-marks.ts'
import { parseVariableRef } from '../core/refs/variable-ref.ts'
import { mapsOver, type Tool } from './tool.ts'

/** A place among the data: a value and everything below it. No instance is the global value of the kind. */
export interface DataPlace {
  kind: string
  instance?: string
  path: readonly FieldKey[]
}

/** One `†` expression in a call's arguments and the places that it may read. */
export interface CallRead {
  /** The text of the expression. */
  text: string
  places: readonly DataPlace[]
  /** Whether it names alternatives or conditions, of which some may be missing. */
  compound: boolean
}

/** A call as the engine will treat it: worked out once, from the call and the tools alone. */
export interface CallPlan {
  id: string
  name: string
  /** Null where there is no such tool. */
  tool: Tool | null
  /** The instance that it reads first and writes to. */
  instance?: string
  /** The tool's own arguments, without what the engine adds to every tool. */
  arguments: Record<string, unknown>
  reads: readonly CallRead[]
  /** Where its result is written: alternatives (`||`) of targets that are all written (`&&`). */
  outputs: readonly (readonly OutputTarget[])[]
  outputMethod: OutputMethod
  /** What it is mapped over; undefined for a call that is not. */
  each?: unknown
  /** Why it cannot run. */
  problem: CallError | null
}

const METHODS: readonly string[] = ['set', 'merge', 'assign', 'push', 'concat', 'delete']

/** Kinds that stand for the item and its index in a mapped call. */
export const ITEM_KINDS: ReadonlySet<string> = new Set(['item', 'index'])

/**
 * Plans a call. `tools` are the agent's by id. Never throws: what is wrong with the call is its `problem`.
 *
 * @param given What is wrong with the arguments already, in words.
 */
export function planCall(
  call: ToolCall,
  tools: ReadonlyMap<string, Tool>,
  given?: string,
): CallPlan {
  const tool = tools.get(call.name) ?? null
  const { _outputPath, _outputMethod, _instance, _each, ...own } = Object(call.arguments)
  const instance = typeof _instance === 'string' && _instance !== '' ? _instance : undefined
  const plan: CallPlan = {
    id: call.id,
    name: call.name,
    tool,
    instance,
    arguments: own,
    reads: [],
    outputs: [],
    outputMethod: 'set',
    problem: tool ? null : notFound(call.name, tools),
  }
  if (given !== undefined) plan.problem = { code: 'invalid_arguments', message: given }
  try {
    // Also of a call that cannot run: who reads what it would have written must not read something older.
    plan.outputs = outputsOf(tool, _outputPath, instance)
    if (!tool || plan.problem) return plan
    plan.each = readEach(tool, _each)
    plan.outputMethod = methodOf(tool, _outputMethod)
    plan.reads = readsOf({ own: tool.variables === false ? null : own, _each }, plan)
  } catch (error) {
    plan.problem ??= {
      code: error instanceof ByrefError ? error.code : 'invalid_arguments',
      message: error instanceof Error ? error.message : 'The arguments cannot be read',
    }
  }
  return plan
}

function notFound(name: string, tools: ReadonlyMap<string, Tool>): CallError {
  const known = [...tools.keys()].join(', ') || 'none'
  return {
    code: 'tool_not_found',
    message: `There is no tool "${name}"; the tools are: ${known}`,
  }
}

function readEach(tool: Tool, each: unknown): unknown {
  if (each === undefined || each === null || each === '') return undefined
  if (mapsOver(tool)) return each
  throw new ByrefError(
    'invalid_arguments',
    `The tool "${tool.id}" cannot be mapped: call it without _each, once for each item`,
  )
}

function outputsOf(
  tool: Tool | null,
  asked: unknown,
  instance: string | undefined,
): OutputTarget[][] {
  const fixed = tool?.outputPath ?? true
  const path = typeof fixed === 'string' ? fixed : asked
  if (fixed === false || path === undefined || path === null || path === '') return []
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

function methodOf(tool: Tool, asked: unknown): OutputMethod {
  const method = tool.outputMethod ?? (asked === '' ? 'set' : (asked ?? 'set'))
  if (METHODS.includes(String(method))) return method as OutputMethod
  throw new ByrefError(
    'invalid_arguments',
    `_outputMethod is one of ${METHODS.join(', ')}, not ${JSON.stringify(method)}`,
  )
}

/** Every `†` expression in the values, at any depth, also between marks in text. */
function readsOf(values: unknown, { instance, each }: CallPlan): CallRead[] {
  const reads: CallRead[] = []
  const waiting: unknown[] = [values]
  while (waiting.length > 0) {
    const value = waiting.pop()
    if (typeof value === 'string') {
      for (const text of value.includes('†') ? expressionsIn(value) : []) {
        const read = readOf(text, instance, each !== undefined)
        if (read) reads.push(read)
      }
    } else if (typeof value === 'object' && value !== null) {
      for (const item of Object.values(value)) waiting.push(item)
    }
  }
  return reads
}

function expressionsIn(text: string): string[] {
  return parseVariableRef(text) ? [text] : variablesInText(text)
}

/** What an expression reads of the data; null where that is nothing that a call of the same answer could write. */
function readOf(text: string, instance: string | undefined, mapped: boolean): CallRead | null {
  const expression = parseVariableRef(text)
  if (!expression) return null
  const refs = variablesIn(expression).filter(({ kind }) => {
    return kind !== RESULT && !(mapped && ITEM_KINDS.has(kind))
  })
  if (refs.length === 0) return null
  const places = refs.flatMap((ref): DataPlace[] => {
    if (ref.instance !== undefined || instance === undefined) return [ref]
    // The instance is read first, then the global value.
    return [{ ...ref, instance }, ref]
  })
  return { text, places, compound: expression.type !== 'variable' }
}
