import type { StandardJSONSchemaV1, StandardSchemaV1 } from '@standard-schema/spec'
import {
  asSchema,
  jsonSchema,
  type ModelMessage,
  type Schema,
  type Tool,
  type ToolExecutionOptions,
} from 'ai'
import type { Assets } from '../../../assets/assets-contract.ts'
import { type BoundaryCall, boundaryOf } from '../../../boundary/boundary.ts'
import {
  describeSchema,
  type JsonSchema,
  type ToolSchema,
} from '../../../boundary/describe-schema.ts'
import type { Tool as ByrefTool } from '../../../boundary/tool.ts'
import { createResultSource, type ValueSource } from '../../../boundary/value-source.ts'
import { isPlainObject } from '../../../core/json/json.ts'
import { outputValue } from '../output-value.ts'

/** What a call comes with. */
export type CallOptions = ToolExecutionOptions<unknown>

/** The input of a tool that takes references. */
export interface ToolInput {
  /** As the model is shown it; input with references is checked once they are resolved. */
  schema: Schema<unknown>
  /** As the tool itself describes it. */
  described(): Promise<JsonSchema>
  /** The input of a call with the values of its variables, or as it is where they cannot be read. */
  filled(input: unknown, options: Pick<CallOptions, 'messages' | 'toolCallId'>): Promise<unknown>
  /**
   * Uses the input of a call with the values of its references, checked.
   *
   * @throws ByrefError of the reference that failed, or of what does not fit; what `use` throws
   */
  resolve<T>(
    input: Record<string, unknown>,
    options: Pick<CallOptions, 'messages' | 'toolCallId'>,
    use: (input: unknown) => T,
  ): Promise<Awaited<T>>
}

/** The input of a tool of the AI SDK. */
export function toolInput(name: string, tool: Tool, assets: Assets): ToolInput {
  const schema = asSchema(tool.inputSchema) as Schema<unknown>
  const described = once(() => describe(name, tool, schema))
  const byrefTool = once(async () => toolOf(name, checkedBy(schema, await described())))

  const boundary = boundaryOf(() => assets)

  async function fill(
    input: Record<string, unknown>,
    { messages }: Pick<CallOptions, 'messages'>,
  ): Promise<BoundaryCall> {
    const call = { tool: await byrefTool(), arguments: input }
    const source = messageSource(messages, assets)
    return { ...call, arguments: (await boundary.resolve(call, source)).arguments }
  }

  return {
    described,
    async filled(input, options) {
      if (!isPlainObject(input) || !mayHoldRefs(input)) return input
      return fill(input, options).then(
        (call) => call.arguments,
        () => input,
      )
    },
    schema: jsonSchema(
      async () => {
        return boundary.describe(toolOf(name, await described())).inputSchema
      },
      {
        validate(value) {
          if (!schema.validate || mayHoldRefs(value)) return { success: true, value }
          return schema.validate(value)
        },
      },
    ),
    resolve: (input, options, use) =>
      fill(input, options).then((call) => boundary.withInput(call, use)),
  }
}

/** A tool of ours: it writes nowhere, since there is no log that would keep it. */
function toolOf(id: string, inputSchema: ToolSchema | JsonSchema): ByrefTool {
  return { id, inputSchema, description: '', outputPath: false, execute: () => null }
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

/** Reads `†result#N` from the messages that the model of a call was shown: their results, by number from 1. */
export function messageSource(messages: readonly ModelMessage[], assets: Assets): ValueSource {
  const results = messages
    .filter((message) => message.role === 'tool')
    .flatMap(({ content }) => content.filter((part) => part.type === 'tool-result'))
  return createResultSource(
    results.map(({ output }) => outputValue(output)),
    assets,
  )
}

/** Whether JSON could hold a reference: a variable, marks in a text, an asset's URL, or one as an object. */
export function mayHoldRefs(root: unknown): boolean {
  const waiting: unknown[] = [root]
  for (let value = waiting.pop(); value !== undefined; value = waiting.pop()) {
    if (typeof value === 'string') {
      if (IN_TEXT.test(value)) return true
    } else if (typeof value === 'object' && value !== null) {
      if ('asset_id' in value || 'assetRef' in value) return true
      waiting.push(...Object.values(value).filter((item) => item !== undefined))
    }
  }
  return false
}

const IN_TEXT = /†|<\||^\s*asset:/i
