import type { Tool } from 'ai'
import { isIterable, lastYield } from '../../../boundary/store.ts'
import { ByrefError } from '../../../core/errors.ts'
import type { ModelOutput } from '../../model-output.ts'
import { latestPer } from '../../plain-tools.ts'
import {
  outputByReference,
  type ResultOptions,
  valueByReference,
  valueOutput,
} from '../output-by-reference.ts'
import type { CallOptions, ToolCalls } from './tool-calls.ts'

type Execute = (input: unknown, options: CallOptions) => unknown
type ToModelOutput = NonNullable<Tool['toModelOutput']>

/**
 * Wraps a tool: its parameters take references, and the model gets references in its results. The application gets the
 * same outputs as before. Tools of a provider are left alone, and dynamic tools keep their schema.
 */
export function wrapTool(calls: ToolCalls): Tool {
  const { tool, assets, maxResultChars, name, outputs } = calls.options
  if (tool.type === 'provider') return tool
  const storing = (toolCallId: string): ResultOptions => {
    return { assets, maxResultChars, tool: name, toolCallId }
  }
  const wrapped: Record<string, unknown> = { ...tool, toModelOutput: showing(tool, storing) }
  const needsApproval = asking(calls)
  if (needsApproval !== undefined) wrapped.needsApproval = needsApproval
  if (!tool.execute) return wrapped as Tool
  if (tool.type !== 'dynamic') wrapped.inputSchema = calls.schema
  const run = executing(tool.execute.bind(tool) as Execute, calls, isGenerator(tool.execute))
  // The tool's own toModelOutput expects values.
  const isStored = outputs === 'references' && !tool.toModelOutput
  wrapped.execute = isStored
    ? (input: unknown, call: CallOptions) => stored(run(input, call), storing(call.toolCallId))
    : run
  return wrapped as Tool
}

function isGenerator(execute: unknown): boolean {
  return Object(execute).constructor.name === 'AsyncGeneratorFunction'
}

/** Runs a tool with the values of its references. Input without references costs nothing. */
function executing(execute: Execute, calls: ToolCalls, isIterated: boolean): Execute {
  return (input, options) => {
    if (calls.isPlain(input)) return execute(input, options)
    if (isIterated) return yields(execute, calls, { input, options })
    return calls.open(input, options, (opened) => {
      options.abortSignal?.throwIfAborted()
      return lastYield(execute(opened, options))
    })
  }
}

async function* yields(
  execute: Execute,
  calls: ToolCalls,
  { input, options }: { input: unknown; options: CallOptions },
): AsyncGenerator {
  const { promise: ended, resolve: end } = Promise.withResolvers<void>()
  // The values stay available until the last yield.
  const opened = await new Promise((use, reject) => {
    const hold = (value: unknown): Promise<void> => {
      use(value)
      return ended
    }
    calls.open(input, options, hold).catch(reject)
  })
  try {
    yield* execute(opened, options) as AsyncIterable<unknown>
  } finally {
    end()
  }
}

/** Returns an output as the model sees it. Also called for preliminary outputs. */
function stored(output: unknown, options: ResultOptions): unknown {
  if (!isIterable(output)) {
    return Promise.resolve(output).then((value) => valueByReference(value, options))
  }
  return (async function* () {
    for await (const value of output) yield valueByReference(value, options)
  })()
}

/**
 * Returns whether a person is asked: if the tool requires it for these values, or if the trust policy would deny the
 * call.
 */
function asking(calls: ToolCalls): Tool['needsApproval'] | Execute {
  const { tool, trust } = calls.options
  const { needsApproval: own, execute } = tool
  if (!trust && (typeof own !== 'function' || !execute)) return own
  const decide = (input: unknown, options: CallOptions): unknown =>
    typeof own === 'function' ? (own as Execute).call(tool, input, options) : own === true
  return async (input: unknown, options: CallOptions) => {
    if (calls.isPlain(input)) return decide(input, options)
    let isOpen = false
    try {
      return await calls.open(input, options, (opened) => {
        isOpen = true
        // A tool without execute gets the input as the model wrote it.
        return decide(execute ? opened : input, options)
      })
    } catch (error) {
      if (isOpen) throw error
      // A call that cannot be opened does not run.
      const isDenied = error instanceof ByrefError && error.code === 'flow_denied'
      return (isDenied && trust?.onViolation === 'ask') || (!execute && decide(input, options))
    }
  }
}

/** Returns the output for the model. It is computed once, because a stream in a value can be read only once. */
function showing(tool: Tool, storing: (toolCallId: string) => ResultOptions): ToModelOutput {
  const once = latestPer<ModelOutput>()
  async function show(call: Parameters<ToModelOutput>[0]): Promise<ModelOutput> {
    const options = storing(call.toolCallId)
    if (!tool.toModelOutput) return valueOutput(call.output, options)
    return outputByReference(await tool.toModelOutput(call), options)
  }

  return (call) => {
    const output: unknown = call.output
    if (typeof output !== 'object' || output === null) return show(call)
    return once(output, call.toolCallId, () => show(call))
  }
}
