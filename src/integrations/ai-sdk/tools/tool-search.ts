import type {
  LanguageModelV4CallOptions,
  LanguageModelV4Message,
  LanguageModelV4StreamPart,
  LanguageModelV4ToolCall,
} from '@ai-sdk/provider'
import { jsonSchema, type LanguageModelMiddleware, type Tool } from 'ai'
import { boundaryOf } from '../../../boundary/boundary.ts'
import { jsonSchemaOf, type ToolContext } from '../../../boundary/tool.ts'
import { ToolIndex } from '../../../boundary/tool-index.ts'
import {
  CALL_TOOL,
  isSearched,
  SEARCH_TOOLS,
  searchTools,
  type ToolSearchOptions,
  takenName,
  unwrapValidCallTool,
} from '../../../boundary/tool-search.ts'
import type { ToolCall } from '../../../core/messages/message.ts'
import { asModelWrote } from '../../../core/messages/read-metadata.ts'
import { onceResolved } from '../../../core/once-resolved.ts'
import { dataInText } from '../../json-in-text.ts'
import type { ToolCalls } from './tool-calls.ts'

type Params = LanguageModelV4CallOptions
type Middleware = Required<Pick<LanguageModelMiddleware, 'wrapGenerate' | 'wrapStream'>>

/** The types of all tools of a request, by name. Calls may name functions, and a provider runs the others. */
type RequestTools = ReadonlyMap<string, NonNullable<Params['tools']>[number]['type']>

/** Lets models find the tools of an application by search. It keeps nothing between requests. */
export class ToolSearch {
  readonly #option: true | ToolSearchOptions
  /** The tools of requests that do not show all their tools. */
  readonly #requests = new WeakMap<Params, RequestTools>()
  /** The names that `search_tools` finds, by the schema of that tool. */
  readonly #found = new WeakMap<object, ReadonlySet<string>>()
  readonly #lengths = new WeakMap<object, number>()

  constructor(option: true | ToolSearchOptions) {
    this.#option = option
  }

  /**
   * Returns `search_tools` and `call_tool` for an application's tools.
   *
   * @throws ByrefError `config_invalid` if the application has a tool with one of these names
   */
  tools(tools: ReadonlyMap<string, ToolCalls>): Record<string, Tool> {
    const taken = [...tools.keys()].find((name) => this.adds(name))
    if (taken !== undefined) throw takenName(taken)
    const hidden = [...tools].filter(([name, { options }]) => {
      return options.tool.type !== 'provider' && this.hides(name)
    })
    const names = hidden.map(([name]) => name)
    const index = onceResolved(async () => {
      const { describe } = boundaryOf(() => {
        throw new Error('Describing a tool needs no assets')
      })
      const found = await Promise.all(
        hidden.map(async ([, calls]) => {
          const tool = await calls.described()
          return { ...describe(tool), description: tool.description }
        }),
      )
      return new ToolIndex(found, this.#option === true ? undefined : this.#option.rank)
    })
    const made = searchTools(names, index).map((tool): [string, Tool] => {
      const { id, description } = tool
      const schema = jsonSchemaOf(tool)
      this.#found.set(schema, new Set(names))
      const execute = (input: unknown) => tool.execute(input, {} as ToolContext)
      return [id, { description, inputSchema: jsonSchema(schema), execute } as Tool]
    })
    return Object.fromEntries(made)
  }

  /**
   * Returns a request without the tools that the model finds by search. Calls of tools that it does not show are shown as
   * they came: through `call_tool`.
   *
   * @param isOwn Whether a tool is one of byref's, which are always shown.
   */
  defer(params: Params, isOwn: (tool: { name: string }) => boolean): Params {
    const { tools = [], toolChoice, prompt } = params
    const search = tools.find(({ name }) => name === SEARCH_TOOLS)
    if (search?.type !== 'function') return params
    const found = this.#found.get(search.inputSchema)
    const others = tools.filter((tool) => !this.adds(tool.name))
    const chosen = toolChoice?.type === 'tool' ? toolChoice.toolName : null
    const candidates = others.filter(({ type, name }) => {
      const isFound = found?.has(name) ?? true
      return type === 'function' && isFound && this.hides(name) && name !== chosen
    })
    const deferred = new Set(candidates.filter((one) => !isOwn(one)).map(({ name }) => name))
    if (deferred.size === 0 || !isSearched(this.#option, () => this.#lengthOf(others))) {
      return { ...params, tools: others.length > 0 ? others : undefined }
    }
    const shown = tools.filter(({ name }) => !deferred.has(name))
    const isHidden = (name: string) => !shown.some((tool) => tool.name === name) && !isOwn({ name })
    const request = {
      ...params,
      tools: shown,
      prompt: prompt.map((message) => asWritten(message, isHidden)),
    }
    this.#requests.set(request, new Map(tools.map(({ name, type }) => [name, type])))
    return request
  }

  /** Turns calls of `call_tool` in answers into calls of the tools that they name. */
  readonly middleware: Middleware = {
    wrapGenerate: async ({ doGenerate, params }) => {
      const tools = this.#requests.get(params)
      const result = await doGenerate()
      if (!tools) return result
      const content = result.content.map((part) =>
        part.type === 'tool-call' ? calledBy(part, tools) : part,
      )
      return { ...result, content }
    },
    wrapStream: async ({ doStream, params }) => {
      const tools = this.#requests.get(params)
      const result = await doStream()
      if (!tools) return result
      return { ...result, stream: result.stream.pipeThrough(unwrapping(tools)) }
    },
  }

  /** The length of the schemas of tools, in characters. A schema is the same object in all requests. */
  #lengthOf(tools: NonNullable<Params['tools']>): number {
    return tools.reduce((sum, tool) => {
      if (tool.type !== 'function') return sum
      const { name, description = '', inputSchema } = tool
      const length = this.#lengths.get(inputSchema) ?? JSON.stringify(inputSchema).length
      this.#lengths.set(inputSchema, length)
      return sum + name.length + description.length + length
    }, 0)
  }

  /** Whether a tool is `search_tools` or `call_tool`. */
  adds(name: string): boolean {
    return name === SEARCH_TOOLS || name === CALL_TOOL
  }

  /** Whether requests may leave out a tool of the application. */
  hides(name: string): boolean {
    return this.#option === true || !this.#option.pinned?.includes(name)
  }
}

/** Returns a message with calls of hidden tools as the model wrote them. */
function asWritten(
  message: LanguageModelV4Message,
  isHidden: (tool: string) => boolean,
): LanguageModelV4Message {
  if (message.role === 'assistant') {
    const content = message.content.map((part) => {
      if (part.type !== 'tool-call' || part.providerExecuted || !isHidden(part.toolName)) {
        return part
      }
      const { toolCallId: id, toolName: name } = part
      const call = { id, name, arguments: Object(part.input), via: CALL_TOOL }
      const { arguments: input } = asModelWrote(call)
      return { ...part, toolName: CALL_TOOL, input }
    })
    return { ...message, content }
  }
  if (message.role !== 'tool') return message
  const content = message.content.map((part) =>
    part.type === 'tool-result' && isHidden(part.toolName)
      ? { ...part, toolName: CALL_TOOL }
      : part,
  )
  return { ...message, content }
}

/**
 * Returns the call that a call of `call_tool` stands for. A call of an unknown tool becomes one of `call_tool`, which
 * answers with the nearest names.
 */
function calledBy(call: LanguageModelV4ToolCall, tools: RequestTools): LanguageModelV4ToolCall {
  if (!isUnnamed(call, tools)) return call
  const { toolCallId: id, toolName } = call
  const input = Object(dataInText(call.input))
  const written: ToolCall =
    toolName === CALL_TOOL
      ? { id, name: toolName, arguments: input }
      : { id, name: CALL_TOOL, arguments: { name: toolName, arguments: input } }
  const { via, name, arguments: args } = unwrapValidCallTool(written)
  if (via === undefined) return call
  return tools.get(name) === 'function' && name !== CALL_TOOL
    ? { ...call, toolName: name, input: JSON.stringify(args) }
    : { ...call, toolName: CALL_TOOL, input: JSON.stringify({ name, arguments: args }) }
}

/** Whether the name of a call is not the name of the tool that runs. */
function isUnnamed(
  { toolName, providerExecuted }: { toolName: string; providerExecuted?: boolean },
  tools: RequestTools,
): boolean {
  return !providerExecuted && (toolName === CALL_TOOL || !tools.has(toolName))
}

/** Holds back the input of a call until it is known which tool it calls. */
function unwrapping(tools: RequestTools) {
  const held = new Set<string>()
  return new TransformStream<LanguageModelV4StreamPart, LanguageModelV4StreamPart>({
    transform(part, controller) {
      if (part.type === 'tool-input-start' && isUnnamed(part, tools)) held.add(part.id)
      const isInput = part.type.startsWith('tool-input-')
      if (isInput && 'id' in part && held.has(part.id ?? '')) return
      if (part.type !== 'tool-call') {
        controller.enqueue(part)
        return
      }
      const call = calledBy(part, tools)
      const { toolCallId: id, toolName, input } = call
      if (held.delete(id)) {
        controller.enqueue({ type: 'tool-input-start', id, toolName })
        controller.enqueue({ type: 'tool-input-delta', id, delta: input })
        controller.enqueue({ type: 'tool-input-end', id })
      }
      controller.enqueue(call)
    },
  })
}
