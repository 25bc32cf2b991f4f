import type { StandardSchemaV1 } from '@standard-schema/spec'
import { asSchema, jsonSchema, type Schema, type Tool, type ToolExecutionOptions } from 'ai'
import type { Assets } from '../../../assets/assets-contract.ts'
import { type Boundary, boundaryOf } from '../../../boundary/boundary.ts'
import {
  checkKeywords,
  describeSchema,
  type JsonSchema,
  type ToolSchema,
} from '../../../boundary/describe-schema.ts'
import type { Tool as ByrefTool } from '../../../boundary/tool.ts'
import { checkFound, withTool } from '../../../boundary/validate.ts'
import { createResultSource } from '../../../boundary/value-source.ts'
import { ByrefError, errorMessage } from '../../../core/errors.ts'
import { isPlainObject } from '../../../core/json/json.ts'
import { onceResolved } from '../../../core/once-resolved.ts'
import { outputValue } from '../../model-output.ts'
import { mayHoldReference } from '../../plain-tools.ts'
import { describingSchema } from '../../reference-schema.ts'
import { MessageLabels } from '../../trust/message-labels.ts'
import { denialText } from '../../trust/session-labels.ts'
import { flowTool, type MessageTrust } from '../../trust/tool-trust.ts'

/** The options of a call. */
export type CallOptions = ToolExecutionOptions<unknown>

/** A tool of an application, and the options of its calls. */
export interface ToolCallsOptions {
  name: string
  tool: Tool
  assets: Assets
  /** Which parameters take references. Default: as in `defineTool`. */
  references?: ByrefTool['references']
  /** Null if trust is off. */
  trust: MessageTrust | null
  /** Whether errors about invalid arguments contain the parameters, because the model may not have seen them. */
  explains?: boolean
  /** Maximum length of a result, in characters of JSON. A longer one becomes an asset. Default: 32,768. */
  maxResultChars?: number
  /** The form of the tool's output for the application. */
  outputs: 'values' | 'references'
}

/** The calls of one tool of the AI SDK: references in their input become values, and the trust policy is asked. */
export class ToolCalls {
  /** The input schema for the model. It lets references through: they are checked when they have their values. */
  readonly schema: Schema<unknown>
  readonly options: ToolCallsOptions
  readonly #boundary: Boundary
  /** Returns the tool as byref describes one. In quarantine with the fields of its results. */
  readonly described = onceResolved(() => this.#describe())
  /**
   * Whether this class must check the arguments: the model may not have seen the schema, and the AI SDK does not check
   * it.
   */
  readonly #checks: boolean

  constructor(options: ToolCallsOptions) {
    this.options = options
    this.#boundary = boundaryOf(() => options.assets)
    const given = asSchema(options.tool.inputSchema) as Schema<unknown>
    this.#checks = options.explains === true && given.validate === undefined
    this.schema = jsonSchema(
      async () => this.#boundary.describe(await this.described()).inputSchema,
      {
        validate: async (value) => {
          if (!given.validate || mayHoldReference(value, IN_TEXT)) return { success: true, value }
          const result = await given.validate(value)
          if (result.success || !options.explains) return result
          const error = withTool(invalidArguments(result.error), await this.described())
          return { success: false, error: error as Error }
        },
      },
    )
  }

  /** Returns whether a call can run at once, without any work here. */
  isPlain(input: unknown): boolean {
    return this.options.trust === null && !this.#checks && !hasRefs(input)
  }

  /**
   * Uses the input of a call with the values of its references, checked by the tool's schema.
   *
   * @throws ByrefError `flow_denied` if the trust policy denies the call, the error of the reference that failed, and
   * `invalid_arguments`; what `use` throws
   */
  async open<T>(
    input: unknown,
    { messages, toolCallId }: Pick<CallOptions, 'messages' | 'toolCallId'>,
    use: (input: unknown) => T,
  ): Promise<Awaited<T>> {
    const { assets, trust, explains } = this.options
    const tool = await this.described()
    const resolving = hasRefs(input)
      ? this.#boundary.resolve({ tool, arguments: input }, sourceOf(messages, assets))
      : null
    if (trust) {
      // A call that cannot be resolved is checked as it is written.
      const args = await resolving?.then(
        (resolved) => resolved.arguments,
        () => input,
      )
      const labels = new MessageLabels(messages, trust)
      const call = { toolCallId, input, args: args ?? input, assets }
      const words = await labels.violation(tool, call)
      if (words !== null) throw new ByrefError('flow_denied', denialText(tool, words))
    }
    if (!resolving) {
      if (this.#checks) await checkFound(tool, input)
      return await use(input)
    }
    const { arguments: args } = await resolving
    return this.#boundary.withInput({ tool, arguments: args }, use).catch((error) => {
      throw explains ? withTool(error, tool) : error
    })
  }

  async #describe(): Promise<ByrefTool> {
    const { name, tool, trust, references } = this.options
    const schema = asSchema(tool.inputSchema) as Schema<unknown>
    const json = await describe(name, tool, schema)
    checkKeywords(`The tool "${name}"`, json)
    const inputSchema = checkedBy(schema, json)
    const description = typeof tool.description === 'string' ? tool.description : ''
    const flow = flowTool(name, inputSchema, trust?.trustOf(name))
    const described = { ...flow, description, ...(references && { references }) }
    const { outputSchema } = tool
    if (!outputSchema || trust?.mode !== 'quarantine') return described
    return { ...described, outputSchema: { ...(await asSchema(outputSchema).jsonSchema) } }
  }
}

/** Returns the error of the AI SDK's schema. The message of its cause has no copy of the whole value. */
export function invalidArguments({ cause, message }: Error): ByrefError {
  return new ByrefError('invalid_arguments', cause ? errorMessage(cause) : message)
}

/** Reads `†result#N` from the results in the messages of a call. */
function sourceOf(messages: CallOptions['messages'], assets: Assets) {
  const parts = messages.flatMap(({ role, content }) => (role === 'tool' ? content : []))
  const results = parts.flatMap((part) =>
    part.type === 'tool-result' ? [outputValue(part.output)] : [],
  )
  return createResultSource(results, assets)
}

/** Returns the AI SDK's schema in the form of a schema library. */
function checkedBy(schema: Schema<unknown>, described: JsonSchema): ToolSchema {
  return describingSchema(described, async (value) => {
    const result = await schema.validate?.(value)
    if (!result) return { value }
    if (result.success) return { value: result.value }
    const { message, cause } = result.error
    const { issues } = Object(cause ?? result.error) as { issues?: StandardSchemaV1.Issue[] }
    return { issues: issues ?? [{ message }] }
  })
}

/** Returns the tool's JSON Schema, also if it has types such as bytes, which only references can stand for. */
async function describe(name: string, tool: Tool, schema: Schema<unknown>): Promise<JsonSchema> {
  try {
    // A copy without zod's marks, which would make it look like a schema of a library.
    return { ...(await schema.jsonSchema) }
  } catch (error) {
    const given = Object(tool.inputSchema) as ToolSchema
    if (!given['~standard']?.jsonSchema) throw error
    return describeSchema(name, given)
  }
}

/** A variable, an embedded reference, or an asset's URL. */
const IN_TEXT = /†|<\||^\s*asset:/i

function hasRefs(input: unknown): input is Record<string, unknown> {
  return isPlainObject(input) && mayHoldReference(input, IN_TEXT)
}
