import type {
  LanguageModelV4CallOptions,
  LanguageModelV4FunctionTool,
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
  calledTool,
  isSearched,
  SEARCH_TOOLS,
  searchTools,
  type ToolSearchOptions,
} from '../../../boundary/tool-search.ts'
import type { ToolCall } from '../../../core/messages/message.ts'
import { asModelWrote } from '../../../core/messages/read-metadata.ts'
import { onceResolved } from '../../../core/once-resolved.ts'
import { dataInText } from '../../json-in-text.ts'
import type { ToolCalls } from './tool-calls.ts'

type Params = LanguageModelV4CallOptions
type Middleware = Required<Pick<LanguageModelMiddleware, 'wrapGenerate' | 'wrapStream'>>

/** Lets models find the tools of an application by search. It keeps nothing between requests. */
export class ToolSearch {
  readonly #option: true | ToolSearchOptions
  /** The names of the tools that a request does not show. */
  readonly #deferred = new WeakMap<Params, ReadonlySet<string>>()
  readonly #lengths = new WeakMap<object, number>()

  constructor(option: true | ToolSearchOptions) {
    this.#option = option
  }

  /** Returns `search_tools` and `call_tool` for an application's tools. */
  tools(tools: ReadonlyMap<string, ToolCalls>): Record<string, Tool> {
    const names = [...tools.keys()].filter((name) => !this.#isPinned(name))
    const index = onceResolved(async () => {
      const { describe } = boundaryOf(() => {
        throw new Error('Describing a tool needs no assets')
      })
      const found = await Promise.all(
        names.map(async (name) => {
          const tool = tools.get(name) as ToolCalls
          return { ...describe(await tool.described()), description: tool.description }
        }),
      )
      return new ToolIndex(found, this.#option === true ? undefined : this.#option.rank)
    })
    const made = searchTools(names, index).map((tool): [string, Tool] => {
      const execute = (input: unknown) => tool.execute(input, {} as ToolContext)
      const { description } = tool
      return [
        tool.id,
        { description, inputSchema: jsonSchema(jsonSchemaOf(tool)), execute } as Tool,
      ]
    })
    return Object.fromEntries(made)
  }

  /**
   * Returns a request without the tools that the model finds by search. Calls of these tools are shown as they came:
   * through `call_tool`.
   *
   * @param isOwn Whether a tool is one of byref's, which are always shown.
   */
  defer(params: Params, isOwn: (tool: LanguageModelV4FunctionTool) => boolean): Params {
    const { tools = [], toolChoice, prompt } = params
    if (!tools.some(({ name }) => name === SEARCH_TOOLS)) return params
    const chosen = toolChoice?.type === 'tool' ? toolChoice.toolName : null
    const candidates = tools.filter((tool): tool is LanguageModelV4FunctionTool => {
      const isAdded = tool.name === SEARCH_TOOLS || tool.name === CALL_TOOL
      const isShown = isAdded || tool.name === chosen || this.#isPinned(tool.name)
      return tool.type === 'function' && !isShown && !isOwn(tool)
    })
    if (!isSearched(this.#option, () => this.#lengthOf(candidates))) {
      const others = tools.filter(({ name }) => name !== SEARCH_TOOLS && name !== CALL_TOOL)
      return { ...params, tools: others }
    }
    const deferred = new Set(candidates.map(({ name }) => name))
    const shown = {
      ...params,
      tools: tools.filter(({ name }) => !deferred.has(name)),
      prompt: prompt.map((message) => asWritten(message, deferred)),
    }
    this.#deferred.set(shown, deferred)
    return shown
  }

  /** Turns calls of `call_tool` in answers into calls of the tools that they name. */
  readonly middleware: Middleware = {
    wrapGenerate: async ({ doGenerate, params }) => {
      const deferred = this.#deferred.get(params)
      const result = await doGenerate()
      if (!deferred) return result
      const content = result.content.map((part) =>
        part.type === 'tool-call' ? (calledBy(part, deferred) ?? part) : part,
      )
      return { ...result, content }
    },
    wrapStream: async ({ doStream, params }) => {
      const deferred = this.#deferred.get(params)
      const result = await doStream()
      if (!deferred) return result
      return { ...result, stream: result.stream.pipeThrough(unwrapping(deferred)) }
    },
  }

  /** The length of the schemas of tools, in characters. A schema is the same object in all requests. */
  #lengthOf(tools: readonly LanguageModelV4FunctionTool[]): number {
    return tools.reduce((sum, { name, description = '', inputSchema }) => {
      const length = this.#lengths.get(inputSchema) ?? JSON.stringify(inputSchema).length
      this.#lengths.set(inputSchema, length)
      return sum + name.length + description.length + length
    }, 0)
  }

  #isPinned(name: string): boolean {
    return this.#option !== true && (this.#option.pinned?.includes(name) ?? false)
  }
}

/** Returns a message with calls of deferred tools as the model wrote them. */
function asWritten(
  message: LanguageModelV4Message,
  deferred: ReadonlySet<string>,
): LanguageModelV4Message {
  if (message.role === 'assistant') {
    const content = message.content.map((part) => {
      if (part.type !== 'tool-call' || !deferred.has(part.toolName)) return part
      const { toolCallId: id, toolName: name } = part
      const call = { id, name, arguments: Object(part.input), via: CALL_TOOL }
      const { arguments: input } = asModelWrote(call)
      return { ...part, toolName: CALL_TOOL, input }
    })
    return { ...message, content }
  }
  if (message.role !== 'tool') return message
  const content = message.content.map((part) =>
    part.type === 'tool-result' && deferred.has(part.toolName)
      ? { ...part, toolName: CALL_TOOL }
      : part,
  )
  return { ...message, content }
}

/** Returns the call that a call of `call_tool` stands for; null for any other call, and one of an unknown tool. */
function calledBy(
  call: LanguageModelV4ToolCall,
  deferred: ReadonlySet<string>,
): LanguageModelV4ToolCall | null {
  const { toolCallId: id, toolName } = call
  const input = Object(dataInText(call.input))
  const written: ToolCall = { id, name: toolName, arguments: input }
  const { via, name, arguments: args } = calledTool(written)
  if (via === undefined || !deferred.has(name)) return null
  return { ...call, toolName: name, input: JSON.stringify(args) }
}

/** Holds back the parts of a call of `call_tool` until it is known which tool it calls. */
function unwrapping(deferred: ReadonlySet<string>) {
  const held = new Set<string>()
  return new TransformStream<LanguageModelV4StreamPart, LanguageModelV4StreamPart>({
    transform(part, controller) {
      if (part.type === 'tool-input-start' && part.toolName === CALL_TOOL) held.add(part.id)
      const isInput = part.type.startsWith('tool-input-')
      if (isInput && 'id' in part && held.has(part.id ?? '')) return
      if (part.type !== 'tool-call' || !held.has(part.toolCallId)) {
        controller.enqueue(part)
        return
      }
      held.delete(part.toolCallId)
      const call = calledBy(part, deferred) ?? part
      const { toolCallId: id, toolName, input } = call
      controller.enqueue({ type: 'tool-input-start', id, toolName })
      controller.enqueue({ type: 'tool-input-delta', id, delta: input })
      controller.enqueue({ type: 'tool-input-end', id })
      controller.enqueue(call)
    },
  })
}
