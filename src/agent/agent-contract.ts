import type { AssetStore } from '../assets/asset-store.ts'
import type { AssetsConfig } from '../assets/assets-config.ts'
import type { Assets } from '../assets/assets-contract.ts'
import type { NativeToolName } from '../boundary/native-tools.ts'
import type { Tool } from '../boundary/tool.ts'
import type { ListToolsOptions, ToolList } from '../boundary/tool-catalogue.ts'
import type { ToolSearchOptions } from '../boundary/tool-search.ts'
import type { ConversationEvent, TrustMode } from '../core/events/events.ts'
import type { Lineage } from '../core/labels/lineage.ts'
import type { CancelOptions } from '../engine/cancel.ts'
import type { Release } from '../engine/conversation-runner.ts'
import type { Run } from '../engine/follow-run.ts'
import type { OutputOf, OutputSchema } from '../engine/output/output-schema.ts'
import type { Limits, PrepareStep, PromptOptions } from '../engine/run-settings.ts'
import type { AdvanceOptions } from '../engine/sessions.ts'
import type { ConversationLog } from '../log/conversation-log.ts'
import type { CostSum, CostsOptions, RunSummary, RunsOptions } from '../log/runs.ts'
import type { LanguageModel, ModelSettings, RetryOptions } from '../models/language-model.ts'
import type { Plugin } from '../plugins/load-plugin.ts'
import type { Policy } from '../policies/policy.ts'
import type { TrustOptions } from '../policies/trust/trust-options.ts'
import type { InNamespace, ScopedOptions } from './agent-parts.ts'
import type { ApprovalAnswer } from './approve.ts'
import type { ForkOptions } from './fork.ts'
import type { MessagesInput } from './messages-input.ts'
import type { EventHandlers, Processor } from './processors.ts'
import type { ConversationContent } from './read-conversation.ts'
import type { AddOptions, RunOptions, SendOptions } from './start-run.ts'
import type { SubAgentOptions } from './sub-agent.ts'

/** Options of {@link createAgent}. */
export interface AgentOptions extends PromptOptions {
  /** An AI SDK model object, such as `openai('gpt-5-mini')` from `@ai-sdk/openai`. */
  model: LanguageModel
  /**
   * The agent's name, if several agents share a log: 1 to 100 letters, digits, `_`, `-` and `.`. Its runs record the
   * name, and `resumeAll` skips runs of agents with other names. Default: no name, for the only agent on a log.
   */
  name?: string
  /** The system prompt: what the agent is and how it should work. Default: empty. */
  instructions?: string
  /**
   * Your own tools, and the names of native tools: `save_asset`, `fetch_asset`, `search_asset`, `query_tables`,
   * `edit_asset`.
   */
  tools?: readonly (Tool | NativeToolName)[]
  /** Commands that the model calls as tools and that users call with messages. See `loadPlugin`. */
  plugins?: readonly Plugin[]
  /**
   * Whether the model gets the tools that read assets, even if `tools` does not name them: `fetch_asset`,
   * `search_asset` and, if `@duckdb/node-api` is installed, `query_tables`. The model needs them to read large results
   * that became assets. Default: they are added after the first such result, because tool schemas cost prompt tokens.
   * `true` adds them from the start; `false` never adds them.
   */
  reading?: boolean
  /**
   * Whether the model finds your tools by search, so that prompts do not contain their schemas. `true`: always.
   * `false`: never. `{ above, pinned, rank }`: above a number of tokens, with pinned tools, with your own ranking.
   * Default: search is on if the schemas of all tools have more than 10,000 tokens. See docs/guides/many-tools.md.
   */
  toolSearch?: boolean | ToolSearchOptions
  /** Where assets are stored: the result of `createAssets`, or its options. Default: in memory. */
  assets?: Assets | { config?: AssetsConfig; store?: AssetStore }
  /** Where conversations are stored, such as `createSqliteLog(path)` from `byref/sqlite`. Default: in memory. */
  log?: ConversationLog
  /** The namespace of conversations and assets. Default: none. */
  namespace?: string
  /**
   * The value of `context.context` in tools, for runs without a `context` of their own. It may be any value.
   */
  context?: unknown
  /**
   * Settings for the model's answers, such as temperature and reasoning, with the AI SDK's names. A run's own
   * `settings` take precedence.
   */
  settings?: ModelSettings
  /**
   * Returns the model, the tools or the model settings of one step, where they differ from the agent's. Called before
   * each model call, and again if a step starts over after a crash. If it changes the model or the tools, the provider
   * cannot use its prompt cache. `capabilities` apply only to the agent's own model.
   */
  prepareStep?: PrepareStep
  /** Limits on the length, duration and cost of a run. */
  limits?: Limits
  /**
   * How the agent treats untrusted data (docs/reference/trust.md): `off` (default), `track`, `quarantine`, or an object
   * with one of these and options.
   */
  trust?: TrustMode | TrustOptions
  /** How failed model calls are retried. */
  retry?: RetryOptions
  /**
   * Duration of the lease on a conversation, in milliseconds. The process renews it while it works. After a
   * crash, other processes wait this long before they take over. Default 10,000.
   */
  leaseMs?: number
  /** Processors receive the events of one type and can add events. */
  processors?: readonly Processor[]
  /** `onEvent` receives every event, and the run waits for it. */
  callbacks?: EventHandlers
  /** Code around every tool call or every model call, such as audit logs and limits. See docs/reference/policies.md. */
  policies?: readonly Policy[]
}

/** Receives the events of a conversation that are streamed but not logged. */
export type StreamListener = (
  conversation: string,
  event: ConversationEvent,
  info: { namespace: string | null },
) => void

/** An agent: a model with its tools, assets and conversations. */
export interface Agent {
  /** Null if the agent has no name. */
  readonly name: string | null
  /** The model that `createAgent` received. */
  readonly model: LanguageModel
  /** The tools that the model may call, including byref's own and those of plugins. */
  readonly tools: readonly Tool[]
  /**
   * Lists the tools as models see them, with the size of each, and when prompts contain it. With a `query`, lists the
   * tools that `search_tools` finds with it, best first.
   */
  listTools(options?: ListToolsOptions): Promise<ToolList>
  /** How the agent treats untrusted data. */
  readonly trust: TrustMode
  /** The agent's assets. Assets saved through it are reported to `callbacks.onEvent`. */
  readonly assets: Assets
  /** The agent's log, in the agent's namespace. */
  readonly log: ConversationLog
  /**
   * Starts a run, and returns it at once. A conversation has one run at a time. During another run, the messages wait
   * for a run of their own, unless `ifBusy` says otherwise. All errors reject `result`, including invalid options. If
   * the messages are invalid (malformed attachments, data that violates its schema), nothing is logged.
   */
  run<Schema extends OutputSchema | undefined = undefined>(
    options: RunOptions<Schema>,
  ): Run<OutputOf<Schema>>
  /** Like `run`, but resolves when the messages are in the log. Rejects if the messages are invalid. */
  start<Schema extends OutputSchema | undefined = undefined>(
    options: RunOptions<Schema>,
  ): Promise<Run<OutputOf<Schema>>>
  /**
   * Sends messages. They start a run. During a run they wait for the next run (`queue`, the default) or for
   * that run's next step (`steer`). Resolves when they are in the log. Rejects with `conversation_busy` during a run of
   * another agent.
   */
  send(
    conversation: string,
    messages: MessagesInput,
    options?: SendOptions,
  ): Promise<{ messageIds: string[] }>
  /**
   * Adds messages without starting a run, such as data that a person edited, notes, or messages from another system.
   * Resolves when they are in the log. Rejects with `conversation_busy` during a run.
   */
  add(
    conversation: string,
    messages: MessagesInput,
    options?: AddOptions,
  ): Promise<{ messageIds: string[] }>
  /**
   * Deletes a message's content. The model no longer sees it, its data is no longer merged, and its debug data is
   * deleted. The log still contains the original event. `deleteConversation` erases that, too.
   *
   * @throws ByrefError `conversation_busy` during a run, unless the message is still queued; `message_not_found`
   */
  deleteMessage(conversation: string, messageId: string, options?: InNamespace): Promise<void>
  /**
   * Deletes a conversation with everything in it, and the conversations of its sub-agents. Cancels its open run first.
   * Assets stay: delete them with `agent.assets.delete`. Resolves to false for an unknown conversation.
   */
  deleteConversation(conversation: string, options?: InNamespace): Promise<boolean>
  /**
   * Continues the open run of a conversation, for example after a crash. If another process runs it, follows
   * that run. If the run has ended, `result` resolves to its result. `result` rejects with `run_not_found` if
   * the conversation never had a run.
   */
  resume(conversation: string, options?: InNamespace): Run<unknown>
  /**
   * Continues all open runs in the log, in all namespaces, except those that need another agent: another name, or tools
   * that this agent does not have. Runs of other processes are taken over when their leases expire. Resolves to the
   * number of conversations when all are open, not when the runs have ended: follow a run with `resume`. If the log has
   * workers, they continue the runs, and this resolves to 0.
   */
  resumeAll(): Promise<number>
  /**
   * Runs a conversation in this process until nothing is due or the process has to release it. Workers (`byref/hosts`)
   * call it. It does not reject if a run fails, because the log contains the error.
   */
  advance(conversation: string, options?: AdvanceOptions & InNamespace): Promise<Release>
  /**
   * Answers the approval request of a call, once. It works in any process that has the same agent: the name of the
   * agent that asked, if it has one, and the tool of the call. Resolves when the answer is in the log. The call then
   * runs in the background.
   *
   * @throws ByrefError `conversation_not_found`; `call_not_found`; `approval_answered` if the call does not wait
   *   for an approval; `agent_not_found` or `tool_not_found` if the run needs another agent; `invalid_arguments` if
   *   the tool does not accept the changed arguments; `forbidden` if `by` may not read the call's data
   */
  approve(
    conversation: string,
    toolCallId: string,
    answer: ApprovalAnswer,
    options?: InNamespace,
  ): Promise<void>
  /**
   * Cancels the run of a conversation, in whichever process it runs. Queued messages are answered next, unless
   * `discardQueued` deletes them. With `runId`, cancels only that run; if it has not started yet, its queued messages
   * are deleted. Resolves to false if there was nothing to cancel.
   */
  cancel(conversation: string, options?: CancelOptions & InNamespace): Promise<boolean>
  /** Reads the messages, assets, data and waiting calls of a conversation. Null if the conversation does not exist. */
  conversation(conversation: string, options?: InNamespace): Promise<ConversationContent | null>
  /**
   * Lists runs of all conversations that match a filter, newest first. `next` is the cursor of the next page; null on
   * the last page.
   */
  runs(options?: RunsOptions & InNamespace): Promise<{ runs: RunSummary[]; next: string | null }>
  /** Adds up the tokens and the cost of runs, for each hour, day or month and for each model or agent. */
  costs(options?: CostsOptions & InNamespace): Promise<CostSum[]>
  /** Copies a conversation, or its beginning up to a message. Resolves to the id of the new conversation. */
  fork(conversation: string, options?: ForkOptions & InNamespace): Promise<string>
  /**
   * Returns where a value came from and what was made from it. `ref` is `†…` (its current value), `asset://…`,
   * `call:<id>` or `message:<id>`. Null if the reference is not found in the conversation.
   *
   * @throws ByrefError `conversation_not_found`
   */
  lineage(conversation: string, ref: string, options?: InNamespace): Promise<Lineage | null>
  /** Returns this agent as a tool for another agent. Each call is a run in a separate conversation. */
  asTool(options: SubAgentOptions): Tool
  /** Returns the debug data of a message, with the exact prompt of its step. Null if there is none. */
  debug(conversation: string, messageId: string, options?: InNamespace): Promise<unknown>
  /** Subscribes to events that are streamed but not logged, in all namespaces. Returns a function that unsubscribes. */
  onStream(listener: StreamListener): () => void
  /** The same agent in another namespace: its log, its assets, and the default namespace of every method. */
  scoped(namespace: string | null, options?: ScopedOptions): Agent
  /** Whether no run is in progress in this process. A run that waits for a person is not in progress. */
  isIdle(): boolean
  /**
   * Stops all work and releases its conversations, so that other processes can continue at once. Nothing is
   * cancelled. The `result`s of open runs reject with `interrupted`. The log and the assets stay open, because
   * they belong to the caller.
   */
  close(): Promise<void>
}
