import type { AssetStore } from '../assets/asset-store.ts'
import { createAssets } from '../assets/assets.ts'
import type { AssetsConfig } from '../assets/assets-config.ts'
import type { Assets } from '../assets/assets-contract.ts'
import type { ConversationEvent } from '../content/events.ts'
import { newId } from '../content/new-id.ts'
import { ByrefError } from '../errors.ts'
import type { ConversationLog } from '../log/conversation-log.ts'
import { createMemoryLog } from '../log/memory.ts'
import type { RetryOptions } from '../model/call-model.ts'
import type { LanguageModel } from '../model/language-model.ts'
import { type NativeToolName, resolveTools } from './native-tools.ts'
import { recoverRuns } from './recover.ts'
import { type BegunRun, beginRun, type Run, type RunOptions } from './run.ts'
import type { Tool } from './tool.ts'

/** Options of {@link createAgent}. */
export interface AgentOptions {
  /** A model of the AI SDK. */
  model: LanguageModel
  /** What the agent is and how it should work. */
  instructions?: string
  /** Tools of your own, and native ones by name: `save_asset`, `fetch_asset`. */
  tools?: readonly (Tool | NativeToolName)[]
  /** Where assets live; default in memory. */
  assets?: Assets | { config?: AssetsConfig; store?: AssetStore }
  /** Where conversations live; default in memory. */
  log?: ConversationLog
  /** The namespace of the assets, where `assets.config.namespacing` asks for one. */
  namespace?: string
  /** Model calls of one run; default 25. */
  maxSteps?: number
  /** How model calls that fail at once are tried again. */
  retry?: RetryOptions
  callbacks?: {
    /**
     * Told of every event, in order; the run waits for it. In `ASSET_CREATED`, `payload.base64` and `.dataUrl` are
     * read on demand. What it throws ends the run with `RUN_ERROR`.
     */
    onEvent?(event: ConversationEvent, info: { conversation: string; position?: number }): unknown
  }
}

/** An agent: a model, its tools, its assets and its conversations. */
export interface Agent {
  readonly model: LanguageModel
  readonly tools: readonly Tool[]
  readonly assets: Assets
  readonly log: ConversationLog
  /**
   * Starts a run; a conversation has one at a time. Messages that cannot be taken (unknown references, data that
   * breaks its schema) and a conversation that is busy make `result` reject, and nothing is logged.
   */
  run(options: RunOptions): Run
  /** Like `run`, and resolves when the messages are in the log; rejects where `run` would have refused them. */
  start(options: RunOptions): Promise<Run>
  /** Cancels the run of a conversation; false if there is none. */
  cancel(conversation: string): boolean
  /** Ends runs that a crash left open with `RUN_ERROR` `interrupted`; resolves to their number. */
  recover(): Promise<number>
  /** Tells of events that only stream and are not in the log. Returns the function that ends it. */
  onStream(listener: (conversation: string, event: ConversationEvent) => void): () => void
  /** Cancels every run and waits for their end. Log and assets stay open: they are the caller's. */
  close(): Promise<void>
}

/**
 * Makes an agent.
 *
 * @throws ByrefError `config_invalid` for two tools with one id, or a native tool that there is not.
 */
export function createAgent(options: AgentOptions): Agent {
  const { model, instructions = '', maxSteps = 25, retry, callbacks = {} } = options
  const log = options.log ?? createMemoryLog()
  const assets = openAssets(options)
  const tools = resolveTools(options.tools ?? [], assets.config.resolveInLLM)
  const active = new Map<string, Run>()
  const streamListeners = new Set<(conversation: string, event: ConversationEvent) => void>()

  function begin(runOptions: RunOptions): BegunRun {
    const { conversation = newId() } = runOptions
    if (active.has(conversation)) return refused(conversation)
    const begun = beginRun(
      {
        log,
        settings: { model, instructions, tools, assets, maxSteps, retry },
        async tell(id, { event, position }) {
          if (position === undefined) {
            for (const listener of streamListeners) listener(id, event)
          }
          await callbacks.onEvent?.(event, { conversation: id, position })
        },
      },
      { ...runOptions, conversation },
    )
    active.set(conversation, begun.run)
    const free = (): boolean => active.delete(conversation)
    begun.run.result.then(free, free)
    return begun
  }

  return {
    model,
    tools,
    assets,
    log,
    run: (runOptions) => begin(runOptions).run,
    async start(runOptions) {
      const { run, accepted } = begin(runOptions)
      await accepted
      return run
    },
    cancel(conversation) {
      const run = active.get(conversation)
      run?.cancel()
      return run !== undefined
    },
    recover: () => recoverRuns(log, (conversation) => active.has(conversation)),
    onStream(listener) {
      streamListeners.add(listener)
      return () => {
        streamListeners.delete(listener)
      }
    },
    async close() {
      const runs = [...active.values()]
      for (const run of runs) run.cancel()
      await Promise.allSettled(runs.map(({ result }) => result))
    },
  }
}

/** A run that never starts: its result and its events say why. */
function refused(conversation: string): BegunRun {
  const error = new ByrefError(
    'conversation_busy',
    `A run is going on in the conversation "${conversation}": wait for its end, or cancel it`,
  )
  const result = Promise.reject(error)
  result.catch(() => {})
  const run: Run = {
    id: newId(),
    conversation,
    messageIds: [],
    messages: [],
    result,
    cancel() {},
    // biome-ignore lint/correctness/useYield: it throws before its first event
    async *[Symbol.asyncIterator]() {
      throw error
    },
  }
  return { run, accepted: result }
}

function openAssets({ assets, namespace }: AgentOptions): Assets {
  if (assets === undefined || !('resolve' in assets)) return createAssets({ ...assets, namespace })
  return namespace === undefined ? assets : assets.scoped({ namespace })
}
