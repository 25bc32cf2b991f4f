import type { Tool } from 'ai'
import type { Assets } from '../../../assets/assets-contract.ts'
import { isIterable, lastYield } from '../../../boundary/store.ts'
import { isPlainObject } from '../../../core/json/json.ts'
import {
  type ModelOutput,
  outputByReference,
  valueByReference,
  valueOutput,
} from '../model-output.ts'
import { type GuardedCalls, type GuardOptions, guardedCalls } from '../trust/guarded-call.ts'
import { type CallOptions, mayHoldRefs, type ToolInput, toolInput } from './tool-input.ts'

/** What tools are wrapped with. */
export interface WrapOptions {
  assets: Assets
  maxResultChars: number
  /** What the application is given. Default: `values`. */
  outputs?: 'values' | 'references'
  /** Where trust is on. */
  guard?: GuardOptions | null
}

type Execute = (input: unknown, options: CallOptions) => unknown
type Resolve = ToolInput['resolve']

/**
 * The tool with parameters that take references and results that are references for the model. What it gives to the
 * application is what it gave before. The provider's own tools are left alone, and so is the schema of a dynamic one.
 */
export function wrapTool(name: string, tool: Tool, options: WrapOptions): Tool {
  if (tool.type === 'provider') return tool
  const toModelOutput = showing(name, tool, options)
  const own = toolInput(name, tool, options.assets)
  const { schema, resolve } = own
  const guard = options.guard ? guardedCalls(name, own, options.guard) : null
  const needsApproval = approval(tool, { resolve, guard })
  // What runs elsewhere can be asked about only.
  if (!tool.execute) return { ...tool, needsApproval, toModelOutput } as Tool
  const resolving = executing((tool.execute as Execute).bind(tool), resolve)
  // Its own `toModelOutput` is made for values.
  const isReferenced = options.outputs === 'references' && !tool.toModelOutput
  const execute = isReferenced ? referencing(name, resolving, options) : resolving
  return {
    ...tool,
    ...(tool.type === 'dynamic' ? {} : { inputSchema: schema }),
    ...(needsApproval === undefined ? {} : { needsApproval }),
    execute: guard ? guarded(execute, { guard, isIterated: isGenerator(tool.execute) }) : execute,
    toModelOutput,
  } as Tool
}

/** Whether a person is asked: as the tool says, and about what it does not take. */
function approval(
  tool: Tool,
  { resolve, guard }: { resolve: Resolve; guard: GuardedCalls | null },
): Tool['needsApproval'] {
  const { needsApproval } = tool
  const isFunction = typeof needsApproval === 'function' && tool.execute !== undefined
  const own = isFunction ? asked((needsApproval as Execute).bind(tool), resolve) : needsApproval
  if (!guard || needsApproval === true) return own as Tool['needsApproval']
  const both: Execute = async (input, options) => {
    const isAsked = typeof own === 'function' ? await (own as Execute)(input, options) : own
    return isAsked || guard.asks(input, options)
  }
  return both as Tool['needsApproval']
}

function isGenerator(execute: unknown): boolean {
  return Object(execute).constructor.name === 'AsyncGeneratorFunction'
}

/** Calls that are looked at before they begin. */
function guarded(
  execute: Execute,
  { guard, isIterated }: { guard: GuardedCalls; isIterated: boolean },
): Execute {
  if (isIterated) {
    return async function* (input, options) {
      await guard.check(input, options)
      yield* execute(input, options) as AsyncIterable<unknown>
    }
  }
  return async (input, options) => {
    await guard.check(input, options)
    return lastYield(execute(input, options))
  }
}

/** Input without references takes the tool's own way, at no cost. */
function executing(execute: Execute, resolve: Resolve): Execute {
  const isIterated = isGenerator(execute)
  return (input, options) => {
    if (!isPlainObject(input) || !mayHoldRefs(input)) return execute(input, options)
    if (isIterated) return iterated(execute, resolve, { input, options })
    return resolve(input, options, (resolved) => {
      options.abortSignal?.throwIfAborted()
      return lastYield(execute(resolved, options))
    })
  }
}

/** Gives every output as the model is shown it. */
function referencing(
  toolName: string,
  execute: Execute,
  { assets, maxResultChars }: WrapOptions,
): Execute {
  return (input, options) => {
    const how = { assets, maxResultChars, toolName, toolCallId: options.toolCallId }
    const given = execute(input, options)
    if (!isIterable(given))
      return Promise.resolve(given).then((value) => valueByReference(value, how))
    return (async function* () {
      for await (const value of given) yield valueByReference(value, how)
    })()
  }
}

async function* iterated(
  execute: Execute,
  resolve: Resolve,
  { input, options }: { input: Record<string, unknown>; options: CallOptions },
): AsyncGenerator {
  const { promise: ended, resolve: end } = Promise.withResolvers<void>()
  // What is resolved is held until the last value.
  const resolved = await new Promise((use, reject) => {
    resolve(input, options, (value) => {
      use(value)
      return ended
    }).catch(reject)
  })
  try {
    yield* execute(resolved, options) as AsyncIterable<unknown>
  } finally {
    end()
  }
}

/** Whether a person is to be asked is decided by the values. Of input that cannot be resolved nothing is run. */
function asked(needsApproval: Execute, resolve: Resolve): Execute {
  return async (input, options) => {
    if (!isPlainObject(input) || !mayHoldRefs(input)) return needsApproval(input, options)
    let isResolved = false
    try {
      return await resolve(input, options, (resolved) => {
        isResolved = true
        return needsApproval(resolved, options)
      })
    } catch (error) {
      if (isResolved) throw error
      return false
    }
  }
}

function showing(name: string, tool: Tool, options: WrapOptions): Tool['toModelOutput'] {
  const shown = new WeakMap<object, { id: string; output: Promise<ModelOutput> }>()
  const show = async (call: { toolCallId: string; input: never; output: never }) => {
    const { assets, maxResultChars } = options
    const { toolCallId, output } = call
    const how = { assets, maxResultChars, toolName: name, toolCallId }
    if (!tool.toModelOutput) return valueOutput(output, how)
    return outputByReference(await tool.toModelOutput(call), how)
  }
  return (call) => {
    const { output: key, toolCallId: id } = call
    if (typeof key !== 'object' || key === null) return show(call as never)
    // A stream in it can be read once.
    const known = shown.get(key)
    const made = known?.id === id ? known : { id, output: show(call as never) }
    shown.set(key, made)
    return made.output
  }
}
