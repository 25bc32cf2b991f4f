import type { AssetStore } from '../assets/asset-store.ts'
import type { AssetsConfig } from '../assets/assets-config.ts'
import type { Assets } from '../assets/assets-contract.ts'
import type { NativeToolName } from '../boundary/native-tools.ts'
import type { Tool } from '../boundary/tool.ts'
import type { ConversationEvent, TrustMode } from '../core/events/events.ts'
import type { Lineage } from '../core/labels/lineage.ts'
import type { Release } from '../engine/conversation-runner.ts'
import type { Run } from '../engine/follow-run.ts'
import type { Limits } from '../engine/limits.ts'
import type { OutputOf, OutputSchema } from '../engine/output/output-schema.ts'
import type { PromptOptions } from '../engine/prompt-settings.ts'
import type { AdvanceOptions } from '../engine/sessions.ts'
import type { ConversationLog } from '../log/conversation-log.ts'
import type { LanguageModel } from '../models/language-model.ts'
import type { ModelSettings } from '../models/model-settings.ts'
import type { RetryOptions } from '../models/retry-options.ts'
import type { Plugin } from '../plugins/load-plugin.ts'
import type { Policy } from '../policies/policy.ts'
import type { TrustOptions } from '../policies/trust/trust-options.ts'
import type { InNamespace } from './agent-parts.ts'
import type { ApprovalAnswer } from './approve.ts'
import type { ForkOptions } from './fork.ts'
import type { EventHandlers, Processor } from './processors.ts'
import type { AddOptions, RunOptions, Said, SendOptions } from './start-run.ts'
import type { SubAgentOptions } from './sub-agent.ts'

/** Options of {@link createAgent}. */
export interface AgentOptions extends PromptOptions {
  /** A model of the AI SDK. */
  model: LanguageModel
  /**
   * What it is called where several agents share a log: its runs say so, and it goes on with no other's by itself
   * (`resumeAll`). Default: none, for the only agent of a log.
   */
  name?: string
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
  /**
   * How it treats what nobody vouches for (docs/trust.md): `off` (default), `track`, `quarantine`, or these with options.
   */
  trust?: TrustMode | TrustOptions
  /** How model calls that fail at once are tried again. */
  retry?: RetryOptions
  /**
   * Milliseconds for which this process has a conversation after each sign of life: as long after a crash others wait
   * before they go on with it. Default 10,000.
   */
  leaseMs?: number
  /** See events and add to them. */
  processors?: readonly Processor[]
  callbacks?: EventHandlers
  /** What concerns every call or every step: limits, audits, tracing. See docs/policies.md. */
  policies?: readonly Policy[]
}

/** Hears of what streams in a conversation. */
export type StreamListener = (
  conversation: string,
  event: ConversationEvent,
  info: { namespace: string | null },
) => void

/** An agent: a model, its tools, its assets and its conversations. */
export interface Agent {
  /** Null for one without. */
  readonly name: string | null
  readonly model: LanguageModel
  readonly tools: readonly Tool[]
  /** How it treats what nobody vouches for. */
  readonly trust: TrustMode
  /** Its assets; what is saved through it is told to `callbacks.onEvent`. */
  readonly assets: Assets
  /** Its log, in its namespace. */
  readonly log: ConversationLog
  /**
   * Starts a run. A conversation has one at a time: during another the messages wait for a run of their own, unless
   * `ifBusy` says otherwise. Messages that cannot be taken (malformed attachments, data that breaks its schema) make
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
    messages: Said,
    options?: SendOptions,
  ): Promise<{ messageIds: string[] }>
  /**
   * Says something that nobody answers: data that a person edits, notes, what was said elsewhere. Resolves when it is in
   * the log; rejects with `conversation_busy` during a run.
   */
  add(conversation: string, messages: Said, options?: AddOptions): Promise<{ messageIds: string[] }>
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
   * Goes on with everything that is under way in the log, in all namespaces, but what agents of other names began. Resolves to the number of conversations,
   * when all of them are taken up; others' are taken over when their leases run out. Where the log has workers it is theirs: 0.
   */
  resumeAll(): Promise<number>
  /**
   * Does what is due in a conversation, in this process, until nothing is or it has to let go of it: what a worker does
   * (`byref/hosts`). Never rejects for what happens in a run, which is in the log.
   */
  advance(conversation: string, options?: AdvanceOptions & InNamespace): Promise<Release>
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
  /**
   * Where the value of a reference came from and what came of it: of `†…` as it is now, of `asset://…`, of `call:<id>` and
   * `message:<id>`. Null for one that names nothing there.
   *
   * @throws ByrefError `conversation_not_found`
   */
  lineage(conversation: string, ref: string, options?: InNamespace): Promise<Lineage | null>
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
