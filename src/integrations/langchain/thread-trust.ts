import { AIMessage, type BaseMessage, FunctionMessage, ToolMessage } from '@langchain/core/messages'
import type { Assets } from '../../assets/assets-contract.ts'
import { jsonSchemaOf, type Tool } from '../../boundary/tool.ts'
import { isPlainObject } from '../../core/json/json.ts'
import { isRedacted, placeholder } from '../../core/labels/redact-value.ts'
import { isAssetRef } from '../../core/refs/asset-ref.ts'
import { dataInText, dataOrText } from '../json-in-text.ts'
import {
  type AnyMessage,
  denialIn,
  type LabelledResult,
  MessageLabels,
} from '../trust/message-labels.ts'
import { flowTool, type MessageTrust } from '../trust/tool-trust.ts'
import { keyOf, type WrittenCall } from './held-calls.ts'
import { withFields } from './messages-by-reference.ts'
import { type AgentTool, describe, runsHere } from './tool-by-reference.ts'

/** The types of an answer's parts that the model itself wrote. Others are results of tools that its provider ran. */
const WRITTEN =
  /^(text|reasoning|thinking|redacted_thinking|refusal|tool_use|tool_call|function_call|input_json_delta)$/

/** The fields beside an answer's content in which integrations of providers report what their own tools found. */
const FOUND =
  /^(tool_outputs|annotations|citations|documents|search_?results|(grounding|url_?context|citation)_?metadata)$/i

const FAILED = 'The call failed. Its error message is not shown, because it is not trusted.'

/**
 * The trust rules for the threads of an agent. Labels depend only on the messages, so all processes compute the same
 * ones.
 */
export class ThreadTrust {
  readonly #trust: MessageTrust
  readonly #assets: Assets

  constructor(trust: MessageTrust, assets: Assets) {
    this.#trust = trust
    this.#assets = assets
  }

  /** Whether a person is asked about a call that its tool does not accept. */
  get asks(): boolean {
    return this.#trust.onViolation === 'ask'
  }

  /** Returns why a tool does not accept a call; null if it accepts the call. */
  async violation(
    messages: readonly BaseMessage[],
    { id = '', name, args }: WrittenCall,
    tools: readonly AgentTool[],
  ): Promise<string | null> {
    const labels = new MessageLabels(labelled(messages), this.#trust)
    const call = { toolCallId: id, input: args, args, assets: this.#assets }
    return labels.violation(this.#tool(name, tools), call)
  }

  /** Returns a tool of the agent as the trust policy knows it. */
  #tool(name: string, tools: readonly AgentTool[]): Tool {
    const tool = tools.find((one) => one.name === name)
    const schema = tool && runsHere(tool) ? jsonSchemaOf(describe(tool)) : { type: 'object' }
    return flowTool(name, schema, this.#trust.trustOf(name))
  }

  /**
   * Returns the result of a call as the thread keeps it. In quarantine, an untrusted result is an asset, and the
   * message has its reference. An untrusted message is made again: its tool chooses neither which message it replaces,
   * nor which call it answers.
   *
   * @param result What the tool returned: a message, or a command
   */
  async kept(
    messages: readonly BaseMessage[],
    { id = '', name, args }: WrittenCall,
    result: unknown,
  ): Promise<unknown> {
    const given = ToolMessage.isInstance(result) ? result : null
    const { content = '', status } = given ?? {}
    const message = new ToolMessage({ content, status, tool_call_id: id, name })
    const call = new AIMessage({ content: '', tool_calls: [{ id, name, args, type: 'tool_call' }] })
    const isKnown = messages.some((one) => one.type === 'ai' && hasCall(one as AIMessage, id))
    const all = [...messages, ...(isKnown ? [] : [call]), message]
    const found = new MessageLabels(labelled(all), this.#trust).results.at(-1)
    if (!found || !isRedacted(found.labels)) return result
    if (!given) {
      const content = `"${name}" returned a command. It is left out, because its messages have no labels.`
      return withFields(message, { content, status: 'error' })
    }
    if (this.#trust.mode !== 'quarantine') {
      const { artifact, additional_kwargs, response_metadata } = given
      return withFields(message, { artifact, additional_kwargs, response_metadata })
    }
    const { text, mime, value } = bodyOf(message)
    const { ref } = await this.#assets.save(Buffer.from(text), mime, { by: 'tool', tool: name })
    // Other middleware may show messages of the thread to its own models.
    if (status === 'error') {
      return withFields(message, { content: FAILED, artifact: { assetRef: ref } })
    }
    return withFields(message, {
      content: JSON.stringify({ assetRef: ref, value: placeholder(value) }),
    })
  }

  /** Returns messages as a model gets them: in quarantine without untrusted results and files. */
  async shown(
    messages: readonly BaseMessage[],
    tools: readonly AgentTool[],
    rejected: Readonly<Record<string, string>>,
  ): Promise<BaseMessage[]> {
    if (this.#trust.mode !== 'quarantine') return [...messages]
    const results = new MessageLabels(labelled(messages), this.#trust).results.values()
    const names = toolNames(messages)
    return Array.fromAsync(messages, async (message, i) => {
      if (!isResult(message)) return this.#withoutFiles(message)
      const result = results.next().value
      if (result && !isRedacted(result.labels)) return message
      const name = names[i] ?? ''
      const content =
        (message as ToolMessage).status === 'error'
          ? (denialWords(message, result, { tool: this.#tool(name, tools), rejected }) ?? FAILED)
          : await this.#named(result?.value)
      return withContent(message, name, content)
    })
  }

  /**
   * Returns the part of an untrusted result that is shown: only references of this store, because any other text may
   * come from an attacker.
   */
  async #named(value: unknown): Promise<string> {
    const { assetRef } = Object(value)
    const info = isAssetRef(assetRef) ? await this.#assets.info(assetRef).catch(() => null) : null
    return info ? JSON.stringify({ assetRef: info.ref, note: NOTE }) : '<untrusted result>'
  }

  #withoutFiles(message: BaseMessage): BaseMessage {
    const { content } = message
    const isUsers = message.type === 'human' && this.#trust.attachments === 'untrusted'
    if (!isUsers || typeof content === 'string') return message
    const shown = content.map((block) => {
      if (block.type === 'text') return block
      const ref = urlIn(block)
      const name = isAssetRef(ref) ? ref : 'a file'
      return { type: 'text' as const, text: `[Attached: ${name}, which is not shown]` }
    })
    return withFields(message, { content: shown })
  }
}

const NOTE = 'untrusted, so it is not shown: pass the reference'

/** Returns the message of byref or of a person about a denied call. Null for any other error. */
function denialWords(
  { content, ...message }: BaseMessage,
  result: LabelledResult | undefined,
  { tool, rejected }: { tool: Tool; rejected: Readonly<Record<string, string>> },
): string | null {
  if (!result?.call) return null
  const { tool_call_id: id } = message as Partial<ToolMessage>
  const said = rejected[keyOf({ id, name: tool.id, args: Object(result.call.input) })]
  return said ?? denialIn(result, tool, String(content))
}

/**
 * Returns a result with other content. No other field of its tool is kept: a provider may show any of them to its
 * model.
 */
function withContent(message: BaseMessage, name: string, content: string): BaseMessage {
  if (!ToolMessage.isInstance(message)) return new FunctionMessage({ name, content })
  const { id, tool_call_id, status } = message
  return new ToolMessage({ id, tool_call_id, status, name, content })
}

function isResult({ type }: BaseMessage): boolean {
  return type === 'tool' || type === 'function'
}

function hasCall({ tool_calls = [] }: AIMessage, wanted: string): boolean {
  return tool_calls.some(({ id = '' }) => id === wanted)
}

/**
 * Returns the tool of each result, by its call. If calls in one answer have the same id, it is unknown which one a
 * result answers.
 */
function toolNames(messages: readonly BaseMessage[]): string[] {
  const known = new Map<string, string>()
  return messages.map((message) => {
    const calls = message.type === 'ai' ? ((message as AIMessage).tool_calls ?? []) : []
    for (const { id = '', name } of calls) known.set(id, sameId(calls, id).length > 1 ? '' : name)
    const { tool_call_id: id = '' } = message as Partial<ToolMessage>
    return isResult(message) ? (known.get(id) ?? '') : ''
  })
}

function sameId(calls: readonly WrittenCall[], wanted: string): WrittenCall[] {
  return calls.filter(({ id = '' }) => id === wanted)
}

/** Returns the text of a result, as it is stored. */
function bodyOf({ content }: ToolMessage): { text: string; mime: string; value: unknown } {
  const value = typeof content === 'string' ? dataInText(content) : content
  if (value === undefined) return { text: String(content), mime: 'text/plain', value: content }
  return { text: JSON.stringify(value), mime: 'application/json', value }
}

/** Returns messages in the form from which labels are computed. */
function labelled(messages: readonly BaseMessage[]): AnyMessage[] {
  const names = toolNames(messages)
  return messages.map((message, i): AnyMessage => {
    const { content } = message
    const blocks: readonly { type: string }[] = typeof content === 'string' ? [] : content
    if (message.type === 'ai') {
      const calls = (message as AIMessage).tool_calls ?? []
      const parts = [
        ...foundByProvider(message, blocks).map((value) => {
          return { type: 'tool-result', output: { type: 'json', value } }
        }),
        ...calls.map(({ id = '', name }) => {
          const input = sameId(calls, id).map(({ args }) => args)
          return {
            type: 'tool-call',
            toolCallId: id,
            toolName: name,
            input: input.length > 1 ? input : input[0],
          }
        }),
      ]
      return { role: 'assistant', content: parts }
    }
    if (isResult(message)) {
      const { tool_call_id: id = '', status } = message as Partial<ToolMessage>
      const value = dataOrText(content)
      const type = status === 'error' ? 'error-text' : 'json'
      const toolName = names[i] ?? ''
      const part = { type: 'tool-result', toolCallId: id, toolName, output: { type, value } }
      return { role: 'tool', content: [part] }
    }
    const files = blocks.filter(({ type }) => type !== 'text')
    const isUsers = message.type === 'human'
    const parts = isUsers ? files.map((block) => ({ type: 'file', data: urlIn(block) })) : []
    return { role: isUsers ? 'user' : 'system', content: parts }
  })
}

/** Returns what a provider's own tools found for an answer: blocks, or fields beside the content. */
function foundByProvider(
  { additional_kwargs, response_metadata }: BaseMessage,
  blocks: readonly { type: string }[],
): unknown[] {
  const cited = blocks.flatMap((block) => {
    const { annotations, citations } = block as { annotations?: unknown; citations?: unknown }
    return [annotations, citations].flat()
  })
  const fields = [additional_kwargs, response_metadata].flatMap((one) => Object.entries(one))
  const named = fields.flatMap(([key, value]) => (FOUND.test(key) ? [value] : []))
  const others = [...cited, ...named].flat().filter(Boolean)
  return [...blocks.filter(({ type }) => !WRITTEN.test(type)), ...others]
}

/** Returns the URL in a block of a message. */
function urlIn(block: object): string {
  const { image_url, url } = block as { image_url?: unknown; url?: unknown }
  const found = isPlainObject(image_url) ? image_url.url : (image_url ?? url)
  return typeof found === 'string' ? found : ''
}
