import type { StandardJSONSchemaV1, StandardSchemaV1 } from '@standard-schema/spec'
import { asSchema, jsonSchema, type Schema, type Tool, type ToolExecutionOptions } from 'ai'
import type { Assets } from '../../../assets/assets-contract.ts'
import { createDataReader } from '../../../boundary/data-reader.ts'
import {
  describeSchema,
  type JsonSchema,
  type ToolSchema,
} from '../../../boundary/describe-schema.ts'
import { resolveVariables } from '../../../boundary/resolve-variables.ts'
import type { Tool as ByrefTool } from '../../../boundary/tool.ts'
import { toolsForModel } from '../../../boundary/tool-schema.ts'
import { withInput } from '../../../boundary/with-input.ts'
import { earlierResults } from './earlier-results.ts'
import { mayHoldRefs } from './may-hold-refs.ts'

/** What a call comes with. */
export type CallOptions = ToolExecutionOptions<unknown>

/** The input of a tool that takes references. */
export interface ToolInput {
  /** As the model is shown it; input with references is checked once they are resolved. */
  schema: Schema<unknown>
  /** As the tool itself describes it. */
  described(): Promise<JsonSchema>
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

  async function variablesIn(
    input: Record<string, unknown>,
    { messages, toolCallId }: Pick<CallOptions, 'messages' | 'toolCallId'>,
  ): Promise<Record<string, unknown>> {
    const reader = createDataReader(earlierResults(messages, assets), { id: toolCallId })
    return resolveVariables(await byrefTool(), input, { reader, assets: () => assets })
  }

  return {
    described,
    schema: jsonSchema(
      async () => {
        const shown = toolsForModel(new Map([[name, toolOf(name, await described())]]))
        return shown[0]?.inputSchema ?? {}
      },
      {
        validate(value) {
          if (!schema.validate || mayHoldRefs(value)) return { success: true, value }
          return schema.validate(value)
        },
      },
    ),
    resolve: (input, options, use) =>
      Promise.all([byrefTool(), variablesIn(input, options)]).then(([known, args]) =>
        withInput(known, { args, assets: () => assets }, use),
      ),
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
