import type { StandardJSONSchemaV1, StandardSchemaV1 } from '@standard-schema/spec'
import { asSchema, jsonSchema, type Schema, type Tool, type ToolExecutionOptions } from 'ai'
import { createDataReader } from '../../agent/calls/data-reader.ts'
import { resolveVariables } from '../../agent/calls/resolve-variables.ts'
import { withInput } from '../../agent/calls/with-input.ts'
import {
  describeSchema,
  type JsonSchema,
  type ToolSchema,
} from '../../agent/tools/describe-schema.ts'
import type { Tool as ByrefTool } from '../../agent/tools/tool.ts'
import { toolsForModel } from '../../agent/tools/tool-schema.ts'
import type { Assets } from '../../assets/assets-contract.ts'
import { isPlainObject } from '../../content/json.ts'
import { earlierResults } from './earlier-results.ts'
import { mayHoldRefs } from './may-hold-refs.ts'
import { type ModelOutput, outputByReference, valueOutput } from './model-output.ts'

/** What tools are wrapped with. */
export interface WrapOptions {
  assets: Assets
  maxResultChars: number
}

type Options = ToolExecutionOptions<unknown>
type Execute = (input: unknown, options: Options) => unknown

/**
 * The tool with parameters that take references and results that are references for the model. What it gives to the
 * application is what it gave before. The provider's own tools are left alone, and so is the schema of a dynamic one.
 */
export function wrapTool(name: string, tool: Tool, options: WrapOptions): Tool {
  if (tool.type === 'provider') return tool
  const toModelOutput = showing(name, tool, options)
  if (!tool.execute) return { ...tool, toModelOutput } as Tool
  const schema = asSchema(tool.inputSchema) as Schema<unknown>
  const described = once(() => describe(name, tool, schema))
  const resolving = resolver({ name, schema, described, assets: options.assets })
  const { needsApproval } = tool
  return {
    ...tool,
    ...(tool.type === 'dynamic' ? {} : { inputSchema: widened(schema, described, name) }),
    ...(typeof needsApproval === 'function'
      ? { needsApproval: asked(needsApproval as Execute, resolving) }
      : {}),
    execute: executing(tool.execute as Execute, resolving),
    toModelOutput,
  } as Tool
}

/** Uses the input of a call with the values of its references, checked. */
type Resolving = <T>(
  input: Record<string, unknown>,
  options: Pick<Options, 'messages' | 'toolCallId'>,
  use: (input: unknown) => T,
) => Promise<Awaited<T>>

/** Input without references takes the tool's own way, at no cost. */
function executing(execute: Execute, resolving: Resolving): Execute {
  const isIterated = execute.constructor.name === 'AsyncGeneratorFunction'
  return (input, options) => {
    if (!isPlainObject(input) || !mayHoldRefs(input)) return execute(input, options)
    if (isIterated) return iterated(execute, resolving, { input, options })
    return resolving(input, options, (resolved) => {
      options.abortSignal?.throwIfAborted()
      return lastOf(execute(resolved, options))
    })
  }
}

async function* iterated(
  execute: Execute,
  resolving: Resolving,
  { input, options }: { input: Record<string, unknown>; options: Options },
): AsyncGenerator {
  const { promise: ended, resolve: end } = Promise.withResolvers<void>()
  // What is resolved is held until the last value.
  const resolved = await new Promise((resolve, reject) => {
    resolving(input, options, (value) => {
      resolve(value)
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
function asked(needsApproval: Execute, resolving: Resolving): Execute {
  return async (input, options) => {
    if (!isPlainObject(input) || !mayHoldRefs(input)) return needsApproval(input, options)
    let isResolved = false
    try {
      return await resolving(input, options, (resolved) => {
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

function resolver({
  name,
  schema,
  described,
  assets,
}: {
  name: string
  schema: Schema<unknown>
  described: () => Promise<JsonSchema>
  assets: Assets
}): Resolving {
  const tool = once(async () => {
    const inputSchema = checkedBy(schema, await described())
    return { ...BARE, id: name, inputSchema } as ByrefTool
  })
  async function variablesIn(
    input: Record<string, unknown>,
    { messages, toolCallId }: Pick<Options, 'messages' | 'toolCallId'>,
  ): Promise<Record<string, unknown>> {
    const reader = createDataReader(earlierResults(messages, assets), { id: toolCallId })
    return resolveVariables(await tool(), input, { reader, assets: () => assets })
  }

  return (input, options, use) =>
    Promise.all([tool(), variablesIn(input, options)]).then(([known, args]) =>
      withInput(known, { args, assets: () => assets }, use),
    )
}

/** What else a tool of ours has: it writes nowhere, since there is no log that would keep it. */
const BARE = { description: '', outputPath: false, execute: () => null } as const

/** As the model is shown it. Input with references is checked once they are resolved. */
function widened(
  schema: Schema<unknown>,
  described: () => Promise<JsonSchema>,
  id: string,
): Schema<unknown> {
  return jsonSchema(
    async () => {
      const tool = { ...BARE, id, inputSchema: await described() } as ByrefTool
      return toolsForModel(new Map([[id, tool]]))[0]?.inputSchema ?? {}
    },
    {
      validate(value) {
        if (!schema.validate || mayHoldRefs(value)) return { success: true, value }
        return schema.validate(value)
      },
    },
  )
}

/** The AI SDK's schema, as those of libraries are. */
function checkedBy(schema: Schema<unknown>, described: JsonSchema): ToolSchema {
  const json = (): Record<string, unknown> => described
  const standard: StandardSchemaV1.Props & StandardJSONSchemaV1.Props = {
    ...{ version: 1, vendor: 'ai', jsonSchema: { input: json, output: json } },
    async validate(value) {
      const result = await schema.validate?.(value)
      if (!result) return { value }
      return result.success ? { value: result.value } : { issues: issuesOf(result.error) }
    },
  }
  return { '~standard': standard } as ToolSchema
}

function issuesOf(error: Error): readonly StandardSchemaV1.Issue[] {
  const { issues } = Object(error.cause ?? error) as { issues?: StandardSchemaV1.Issue[] }
  return issues ?? [{ message: error.message }]
}

/** The tool's schema, also where it has what only references can stand for, such as bytes. */
async function describe(name: string, tool: Tool, schema: Schema<unknown>): Promise<JsonSchema> {
  try {
    // What zod gives of itself would pass for a schema of a library.
    return { ...(await schema.jsonSchema) }
  } catch (error) {
    const given = Object(tool.inputSchema) as ToolSchema
    if (!given['~standard']?.jsonSchema) throw error
    return describeSchema(name, given)
  }
}

function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined
  return () => {
    made ??= make()
    return made
  }
}
