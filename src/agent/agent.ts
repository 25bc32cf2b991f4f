import { hostname } from 'node:os'
import type { AssetStore } from '../assets/asset-store.ts'
import type { AssetsConfig } from '../assets/assets-config.ts'
import type { Assets } from '../assets/assets-contract.ts'
import type { ConversationEvent } from '../content/events.ts'
import { newId } from '../content/new-id.ts'
import type { MessageInput } from '../content/to-message.ts'
import { type ConversationLog, listAll } from '../log/conversation-log.ts'
import { createMemoryLog } from '../log/memory.ts'
import type { RetryOptions } from '../model/call-model.ts'
import type { LanguageModel } from '../model/language-model.ts'
import { type ModelSettings, modelSettings } from '../model/model-settings.ts'
import { type AgentAssets, openAssets } from './agent-assets.ts'
import type { ApprovalAnswer } from './approve.ts'
import { asLanguageModel } from './as-language-model.ts'
import { cancelRun } from './cancel.ts'
import {
  type OpenConversation,
  type OpenConversations,
  openConversations,
} from './conversations.ts'
import type { Run } from './follow-run.ts'
import { type ForkOptions, forkConversation } from './fork.ts'
import { knownOptions } from './known-options.ts'
import { type Limits, resolveLimits } from './limits.ts'
import type { OutputOf, OutputSchema } from './output/output-schema.ts'
import type { Plugin } from './plugins/load-plugin.ts'
import { pluginsByName, pluginTools } from './plugins/plugins-by-name.ts'
import { type EventHandlers, type Processor, tellHandlers } from './processors.ts'
import { type PromptOptions, resolvePromptOptions } from './prompt-settings.ts'
import { resumeRun } from './resume.ts'
import type { AgentSettings } from './run-settings.ts'
import {
  addMessages,
  type RunOptions,
  type SendOptions,
  sendMessages,
  startRun,
} from './start-run.ts'
import { type SubAgentOptions, subAgentTool } from './sub-agent.ts'
import { type NativeToolName, resolveTools } from './tools/native-tools.ts'
import type { Tool } from './tools/tool.ts'

/** Options of {@link createAgent}. */
export interface AgentOptions extends PromptOptions {
  /** A model of the AI SDK. */
  model: LanguageModel
  /** What the agent is and how it should work. */
  instructions?: string
  /** Tools of your own, and native ones by name: `save_asset`, `fetch_asset`, `search_asset`. */
  tools?: readonly (Tool | NativeToolName)[]
  /** Commands that the model calls as tools, and people by messages: see `loadPlugin`. */
  plugins?: readonly Plugin[]
  /**
   * Whether the model has `fetch_asset` and `search_asset` without their being named, to read on in results that became
   * assets. Default: from the first such result on, since they are part of every prompt. `true`: from the start.
   */
  reading?: boolean
  /** Where assets live; default in memory. */
  assets?: Assets | { config?: AssetsConfig; store?: AssetStore }
  /** Where conversations live; default in memory. */
  log?: ConversationLog
  /** The namespace of conversations and assets. Default: none. */
  namespace?: string
  /** What tools find as `context.context` in runs that bring none of their own: anything. */
  context?: unknown
  /** How the model answers: temperature, reasoning and the like, by the AI SDK's names; a run's own settings go before them. */
  settings?: ModelSettings
  /** What ends or bounds a run. */
  limits?: Limits
  /** How model calls that fail at once are tried again. */
  retry?: RetryOptions
  /**
   * Milliseconds for which this process has a conversation after each sign of life: as long after a crash others wait
   * before they go on with it. Default 10,000.
   */
  leaseMs?: number
  /** See events and add to them (binary-assets.md, "Assets in Custom Processors"). */
  processors?: readonly Processor[]
  callbacks?: EventHandlers
}

/** Hears of what streams in a conversation. */
export type StreamListener = (
  conversation: string,
  event: ConversationEvent,
  info: { namespace: string | null },
) => void

/** What names a conversation beside its id. */
export interface InNamespace {
  /** Default: the agent's. */
  namespace?: string | null
}

/** An agent: a model, its tools, its assets and its conversations. */
export interface Agent {
  readonly model: LanguageModel
  readonly tools: readonly Tool[]
  /** Its assets; what is saved through it is told to `callbacks.onEvent`. */
  readonly assets: Assets
  /** Its log, in its namespace. */
  readonly log: ConversationLog
  /**
   * Starts a run. A conversation has one at a time: during another the messages wait for a run of their own, unless
   * `ifBusy` says otherwise. Messages that cannot be taken (unknown references, data that breaks its schema) make
   * `result` reject, and nothing is logged.
   */
  run<Schema extends OutputSchema | undefined = undefined>(
    options: RunOptions<Schema>,
  ): Run<OutputOf<Schema>>
  /** Like `run`, and resolves when the messages are in the log; rejects where `run` would have refused them. */
  start<Schema extends OutputSchema | undefined = undefined>(
    options: RunOptions<Schema>,
  ): Promise<Run<OutputOf<Schema>>>
  /**
   * Says something: begins a run, or during one waits for the next (`queue`, the default) or for its next step (`steer`).
   * Resolves when it is in the log.
   */
  send(
    conversation: string,
    messages: MessageInput | readonly MessageInput[],
    options?: SendOptions,
  ): Promise<{ messageIds: string[] }>
  /**
   * Says something that nobody answers: data that a person edits, notes, what was said elsewhere. Resolves when it is in
   * the log; rejects with `conversation_busy` during a run.
   */
  add(
    conversation: string,
    messages: MessageInput | readonly MessageInput[],
    options?: InNamespace,
  ): Promise<{ messageIds: string[] }>
  /**
   * Takes a message's content away: the model is not shown it any more, its data do not count, its debug data are gone.
   * What it said stays in the log's history; to erase it, delete the conversation.
   *
   * @throws ByrefError `conversation_busy` during a run, `message_not_found`
   */
  deleteMessage(conversation: string, messageId: string, options?: InNamespace): Promise<void>
  /**
   * Goes on with what is under way: after a crash, a closed process, another process's death; where one lives that runs
   * it, follows. What has ended already is the result. `result` rejects with `run_not_found` where there never was a run.
   */
  resume(conversation: string, options?: InNamespace): Run<unknown>
  /**
   * Goes on with everything that is under way in the log, in all namespaces. Resolves to the number of conversations,
   * when all of them are taken up; others' are taken over when their leases run out.
   */
  resumeAll(): Promise<number>
  /**
   * Answers about a call that waits for a person; from any process, once.
   *
   * @throws ByrefError `approval_answered` for a call that waits for nobody; `invalid_arguments` for changed arguments
   *   that its tool does not take
   */
  approve(
    conversation: string,
    toolCallId: string,
    answer: ApprovalAnswer,
    options?: InNamespace,
  ): Promise<void>
  /** Ends the run of a conversation, in whichever process it is; false if there is none. */
  cancel(conversation: string, options?: InNamespace): Promise<boolean>
  /** Makes a conversation that begins as this one does, up to and with a message; resolves to its id. */
  fork(conversation: string, options?: ForkOptions & InNamespace): Promise<string>
  /** This agent as a tool of another: a call is a run in a conversation of its own. */
  asTool(options: SubAgentOptions): Tool
  /** The debug data of a message, with the prompt of its step as the model saw it; null where there are none. */
  debug(conversation: string, messageId: string, options?: InNamespace): Promise<unknown>
  /**
   * Tells of events that only stream and are not in the log, of all namespaces. Returns the function that ends it.
   */
  onStream(listener: StreamListener): () => void
  /** The same agent in another namespace: its log, its assets, and the default of every method. */
  scoped(namespace: string | null): Agent
  /**
   * Stops working and leaves what is under way to others, who may go on at once: nothing is cancelled, `result`s of open
   * runs reject with `interrupted`. Log and assets stay open: they are the caller's.
   */
  close(): Promise<void>
}

const OPTIONS: readonly (keyof AgentOptions)[] = [
  'model',
  'instructions',
  'tools',
  'plugins',
  'reading',
  'assets',
  'log',
  'namespace',
  'context',
  'settings',
  'limits',
  'merge',
  'history',
  'media',
  'capabilities',
  'retry',
  'leaseMs',
  'processors',
  'callbacks',
]

/** What the functions of an agent share. */
export interface AgentParts {
  settings: AgentSettings
  log: ConversationLog
  assets: AgentAssets
  namespace: string | null
  /** This agent, unique over all processes. */
  owner: string
  leaseMs: number
  /** The open conversations of a namespace. */
  conversations(namespace: string | null): OpenConversations
}

/**
 * Makes an agent.
 *
 * @throws ByrefError `config_invalid` for an option that there is not, a model that is none, two tools with one id, or
 *   a native tool that there is not
 */
export function createAgent(options: AgentOptions): Agent {
  knownOptions('createAgent', options, OPTIONS)
  const { instructions = '', retry, callbacks = {}, processors = [], leaseMs = 10_000 } = options
  const model = asLanguageModel(options.model)
  const log = options.log ?? createMemoryLog()
  const namespace = options.namespace ?? log.namespace
  const streamListeners = new Set<StreamListener>()
  const handlers = { ...callbacks, processors }
  const assets = openAssets(options, namespace, async (event) => {
    await callbacks.onEvent?.(event, { conversation: null })
  })
  const plugins = pluginsByName(options.plugins ?? [])
  const { tools, later } = resolveTools([...(options.tools ?? []), ...pluginTools(plugins)], {
    resolveInLLM: assets.config.resolveInLLM,
    reading: options.reading,
  })
  const settings: Omit<AgentSettings, 'assets'> = {
    model,
    instructions,
    tools: new Map(tools.map((tool) => [tool.id, tool])),
    later,
    context: options.context,
    limits: resolveLimits(options.limits),
    prompt: resolvePromptOptions(model, options),
    modelSettings: modelSettings(options.settings),
    plugins,
    retry,
  }
  const owner = `${hostname()}:${process.pid}:${newId()}`
  const open = new Map<string | null, OpenConversations>()
  const hasHandlers = callbacks.onEvent !== undefined || processors.length > 0

  function logOf(of: string | null): ConversationLog {
    return of === log.namespace ? log : log.scoped(of)
  }

  function conversations(of: string | null): OpenConversations {
    const known = open.get(of)
    if (known) return known
    const own = assets.in(of)
    const made = openConversations({
      log: logOf(of),
      settings: { ...settings, assets: own },
      owner,
      leaseMs,
      tell: hasHandlers ? (thread, event) => tellHandlers(handlers, thread, event, own) : undefined,
      onStream(conversation, event) {
        for (const listener of streamListeners) listener(conversation, event, { namespace: of })
      },
    })
    open.set(of, made)
    return made
  }

  async function resumeAll(): Promise<number> {
    let count = 0
    for await (const { id, namespace: its } of listAll(log, { due: true, allNamespaces: true })) {
      const { wake } = await conversations(its).get(id)
      wake()
      count++
    }
    return count
  }

  function onStream(listener: StreamListener): () => void {
    streamListeners.add(listener)
    return () => {
      streamListeners.delete(listener)
    }
  }

  async function close(): Promise<void> {
    await Promise.all([...open.values()].map((one) => one.close()))
  }

  const shared = { model, tools, resumeAll, onStream, close }
  const base = { log, assets, owner, leaseMs, conversations }
  return agentIn(namespace)

  function agentIn(namespace: string | null): Agent {
    const parts: AgentParts = {
      ...base,
      settings: { ...settings, assets: assets.in(namespace) },
      namespace,
    }
    const of = (given: InNamespace = {}): string | null =>
      given.namespace === undefined ? namespace : given.namespace
    const get = async (id: string, given?: InNamespace): Promise<OpenConversation> =>
      conversations(of(given)).get(id)

    const agent: Agent = {
      ...shared,
      assets: assets.toldIn(namespace),
      log: logOf(namespace),
      run: (runOptions) => startRun(parts, runOptions).run,
      async start(runOptions) {
        const { run, accepted } = startRun(parts, runOptions)
        await accepted
        return run
      },
      send: (conversation, messages, sendOptions) =>
        sendMessages(parts, conversation, messages, sendOptions),
      add: (conversation, messages, given) => addMessages(parts, conversation, messages, given),
      async deleteMessage(conversation, messageId, given) {
        const { deleteMessage } = await import('./delete-message.ts')
        await deleteMessage(await get(conversation, given), messageId)
      },
      resume: (conversation, given) => resumeRun(conversations(of(given)), conversation),
      async approve(conversation, toolCallId, answer, given) {
        const checkedWith = { tools: parts.settings.tools, assets: assets.in(of(given)) }
        const { answerApproval } = await import('./approve.ts')
        await answerApproval(checkedWith, await get(conversation, given), toolCallId, answer)
      },
      cancel: async (conversation, given) => cancelRun(await get(conversation, given)),
      fork: (conversation, given) => forkConversation(logOf(of(given)), conversation, given),
      asTool: (subOptions) => subAgentTool(parts, subOptions),
      debug: async (conversation, messageId, given) => {
        const its = of(given)
        const source = { log: logOf(its), assets: assets.in(its), namespace: its }
        const { deriveDebug } = await import('./steps/derive-debug.ts')
        return deriveDebug({ ...source, settings: parts.settings }, conversation, messageId)
      },
      scoped: (other) => (other === namespace ? agent : agentIn(other)),
    }
    return agent
  }
}
