import type { Tool } from 'ai'
import type { Assets } from '../../../assets/assets-contract.ts'
import { isPlainObject } from '../../../content/json.ts'
import { type ModelOutput, outputByReference, valueOutput } from '../model-output.ts'
import { mayHoldRefs } from './may-hold-refs.ts'
import { type CallOptions, type ToolInput, toolInput } from './tool-input.ts'

/** What tools are wrapped with. */
export interface WrapOptions {
  assets: Assets
  maxResultChars: number
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
  if (!tool.execute) return { ...tool, toModelOutput } as Tool
  const { schema, resolve } = toolInput(name, tool, options.assets)
  const { needsApproval } = tool
  return {
    ...tool,
    ...(tool.type === 'dynamic' ? {} : { inputSchema: schema }),
    ...(typeof needsApproval === 'function'
      ? { needsApproval: asked((needsApproval as Execute).bind(tool), resolve) }
      : {}),
    execute: executing((tool.execute as Execute).bind(tool), resolve),
    toModelOutput,
  } as Tool
}

/** Input without references takes the tool's own way, at no cost. */
function executing(execute: Execute, resolve: Resolve): Execute {
  const isIterated = execute.constructor.name === 'AsyncGeneratorFunction'
  return (input, options) => {
    if (!isPlainObject(input) || !mayHoldRefs(input)) return execute(input, options)
    if (isIterated) return iterated(execute, resolve, { input, options })
    return resolve(input, options, (resolved) => {
      options.abortSignal?.throwIfAborted()
      return lastOf(execute(resolved, options))
    })
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

/** What came last of an iterable, and any other value as it is. */
async function lastOf(result: unknown): Promise<unknown> {
  if (typeof Object(result)[Symbol.asyncIterator] !== 'function') return result
  if (result instanceof ReadableStream) return result
  let last: unknown
  for await (const value of result as AsyncIterable<unknown>) last = value
  return last
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
