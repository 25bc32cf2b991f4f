import type { ClientTool, ServerTool } from '@langchain/core/tools'
import { toJsonSchema } from '@langchain/core/utils/json_schema'
import { ToolMessage } from 'langchain'
import { boundaryOf } from '../../boundary/boundary.ts'
import { checkKeywords, type JsonSchema, type ToolSchema } from '../../boundary/describe-schema.ts'
import { declaresReferences } from '../../boundary/resolve-assets.ts'
import { lastYield } from '../../boundary/store.ts'
import { jsonSchemaOf, type Tool } from '../../boundary/tool.ts'
import { openCall, plainTool, resultByReference } from '../plain-tools.ts'
import type { Wrapping } from '../reference-options.ts'
import { withFields } from './messages-by-reference.ts'

/** A tool as agents of LangChain take it. */
export type AgentTool = ClientTool | ServerTool

type Storing = Parameters<typeof resultByReference>[1]
type Callbacks = { handleToolEvent?(event: unknown): unknown } | undefined
type Config = { toolCall?: { id?: string }; signal?: AbortSignal } | undefined
type Run = (input: unknown, callbacks: Callbacks, config: Config) => unknown

/** Whether calls of a tool run here. A provider, a runnable or a browser ("headless" tools) answers those of others. */
export function runsHere(tool: AgentTool): tool is ClientTool {
  const { headlessTool } = Object(Reflect.get(tool, 'metadata'))
  return typeof Reflect.get(tool, '_call') === 'function' && headlessTool !== true
}

/**
 * Wraps a tool: its parameters take references, and its results hold them. Callbacks and traces see the call as the model
 * wrote it, and the result with its references. Returns the same tool if its calls do not run here.
 */
export function toolByReference(tool: AgentTool, { assets, maxResultChars }: Wrapping): AgentTool {
  if (!runsHere(tool)) return tool
  const described = describe(tool)
  const boundary = boundaryOf(() => assets)
  const run = Reflect.get(tool, '_call') as Run
  const hasArtifact = Reflect.get(tool, 'responseFormat') === 'content_and_artifact'
  const call: Run = async (input, callbacks, config) => {
    const { toolCall, signal } = config ?? {}
    const onYield = callbacks?.handleToolEvent?.bind(callbacks)
    const written = { tool: described, arguments: Object(input) }
    const result = await openCall(boundary, written, (value) =>
      lastYield(run.call(tool, value, callbacks, config), { signal, onYield }),
    )
    const about = { tool: tool.name, toolCallId: toolCall?.id ?? '', signal }
    const storing = { ...about, assets, maxResultChars }
    if (!hasArtifact || !Array.isArray(result)) return contentByReference(result, storing)
    const [content, artifact, ...rest] = result
    const shown = contentByReference(content, storing)
    return Promise.all([shown, resultByReference(artifact, storing), ...rest])
  }
  // The boundary validates: until then, a reference may stand for a number.
  const open = Object.create(tool, { schema: { value: {} }, _call: { value: call } })
  const schema = { value: boundary.describe(described).inputSchema }
  return Object.create(open, { schema, call: { value: open.call.bind(open) } }) as ClientTool
}

/** Returns a tool in the form that the boundary takes. */
export function describe({ name, schema }: ClientTool): Tool {
  const { '~standard': standard } = Object(schema) as Partial<ToolSchema>
  const input = () => toJsonSchema(schema) as JsonSchema
  // zod 3 does not describe itself.
  const described = { '~standard': { ...standard, jsonSchema: { input, output: input } } }
  const known = standard && !standard.jsonSchema ? described : schema
  const tool = plainTool(name, known as JsonSchema)
  const json = jsonSchemaOf(tool)
  checkKeywords(`The tool "${name}"`, json)
  return declaresReferences(json) ? { ...tool, references: 'declared' } : tool
}

/** Returns what a model sees of a result: text. Only a tool's own blocks without files stay blocks. */
async function contentByReference(given: unknown, storing: Storing): Promise<unknown> {
  if (Object(given).lg_name === 'Command') return given
  if (ToolMessage.isInstance(given)) {
    const content = await contentByReference(given.content, storing)
    const artifact = await resultByReference(given.artifact, storing)
    return withFields(given, { content, artifact })
  }
  const value = await resultByReference(given, storing)
  return value === given || typeof value === 'string' ? value : JSON.stringify(value)
}
