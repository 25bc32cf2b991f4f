import { hostname } from 'node:os'
import type { AssetStore } from '../assets/asset-store.ts'
import { type Assets, createAssets } from '../assets/assets.ts'
import type { AssetsConfig } from '../assets/assets-config.ts'
import type { ConversationEvent, FinishReason, TokenUsage } from '../content/events.ts'
import type { Foldable } from '../content/fold.ts'
import type { Message } from '../content/message.ts'
import { newId } from '../content/new-id.ts'
import type { MessageInput } from '../content/to-message.ts'
import { ByrefError } from '../errors.ts'
import { type ConversationLog, readAll } from '../log/conversation-log.ts'
import { createMemoryLog } from '../log/memory.ts'
import type { RetryOptions } from '../model/call-model.ts'
import type { LanguageModel } from '../model/language-model.ts'
import { acceptMessages } from './accept-messages.ts'
import { eventQueue } from './event-queue.ts'
import { runLoop } from './loop.ts'
import { openThread, type Thread } from './thread.ts'
import type { Tool } from './tool.ts'

/** Options of {@link createAgent}. */
export interface AgentOptions {
  /** A model of the AI SDK. */
  model: LanguageModel
  /** What the agent is and how it should work. */
  instructions?: string
  tools?: readonly Tool[]
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

/** What to run. */
export interface RunOptions {
  messages: readonly MessageInput[]
  /** The conversation's id; a new one by default. */
  conversation?: string
  signal?: AbortSignal
}

/** How a run ended. */
export interface RunResult {
  /** What the agent said last. */
  text: string
  reason: FinishReason
  usage: TokenUsage
  conversation: string
}

/** One run, which goes on whether or not anybody watches. Iterating it gives its events, from the first. */
export interface Run extends AsyncIterable<ConversationEvent> {
  readonly id: string
  readonly conversation: string
  /** The ids of the messages that started it. */
  readonly messageIds: readonly string[]
  /** Resolves when the run has ended; rejects with the ByrefError of a `RUN_ERROR`. */
  readonly result: Promise<RunResult>
  /** The conversation's messages so far. */
  readonly messages: readonly Message[]
  cancel(): void
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
 * @throws ByrefError `config_invalid` for two tools with one id.
 */
export function createAgent(options: AgentOptions): Agent {
  const { model, instructions = '', tools = [], maxSteps = 25, retry, callbacks = {} } = options
  const log = options.log ?? createMemoryLog()
  const assets = isAssets(options.assets)
    ? options.assets
    : createAssets({ ...options.assets, namespace: options.namespace })
  refuseDuplicates(tools)
  const active = new Map<string, { controller: AbortController; done: Promise<unknown> }>()
  const streamListeners = new Set<(conversation: string, event: ConversationEvent) => void>()

  function begin({ messages, conversation = newId(), signal }: RunOptions): {
    run: Run
    accepted: Promise<void>
  } {
    const id = newId()
    const controller = new AbortController()
    const queue = eventQueue<ConversationEvent>()
    const messageIds: string[] = []
    const accepting = Promise.withResolvers<void>()
    let thread: Thread | null = null

    const tell = async ({ event, position }: Foldable): Promise<void> => {
      queue.push(event)
      if (position === undefined) {
        for (const listener of streamListeners) listener(conversation, event)
      }
      await callbacks.onEvent?.(event, { conversation, position })
    }

    async function work(): Promise<RunResult> {
      const opened = await openThread(log, conversation, tell)
      thread = opened
      const known = new Set(opened.state.assets.map(({ ref }) => ref))
      const accepted = await acceptMessages(messages, assets, known)
      const owner = { host: hostname(), pid: process.pid }
      await opened.append([
        ...accepted.events,
        { type: 'RUN_STARTED', threadId: conversation, runId: id, model: model.modelId, owner },
      ])
      messageIds.push(...accepted.messageIds)
      accepting.resolve()
      return runLoop(opened, {
        runId: id,
        signal: signal ? AbortSignal.any([signal, controller.signal]) : controller.signal,
        model,
        instructions,
        tools,
        assets,
        maxSteps,
        retry,
      })
    }

    const result = active.has(conversation)
      ? Promise.reject<RunResult>(busy(conversation))
      : reserve(conversation, controller, work())
    accepting.promise.catch(() => {})
    result.then(queue.end, (error: unknown) => {
      // A run that started has told of its failure by RUN_ERROR; one that did not start has nothing else to tell.
      if (messageIds.length > 0) queue.end()
      else queue.fail(error)
      accepting.reject(error)
    })
    const run: Run = {
      id,
      conversation,
      messageIds,
      result,
      get messages() {
        return thread?.state.messages ?? []
      },
      cancel: () => controller.abort(),
      [Symbol.asyncIterator]: queue[Symbol.asyncIterator],
    }
    return { run, accepted: accepting.promise }
  }

  function reserve(
    conversation: string,
    controller: AbortController,
    result: Promise<RunResult>,
  ): Promise<RunResult> {
    const entry = { controller, done: result.catch(() => {}) }
    active.set(conversation, entry)
    return result.finally(() => active.delete(conversation))
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
      const entry = active.get(conversation)
      entry?.controller.abort()
      return entry !== undefined
    },
    async recover() {
      const left = (await log.list()).filter(({ id, openRun }) => openRun && !active.has(id))
      const ended = await Promise.all(
        left.map(({ id, openRun }) => endIfDead(log, id, openRun ?? '')),
      )
      return ended.filter(Boolean).length
    },
    onStream(listener) {
      streamListeners.add(listener)
      return () => {
        streamListeners.delete(listener)
      }
    },
    async close() {
      const runs = [...active.values()]
      for (const { controller } of runs) controller.abort()
      await Promise.all(runs.map(({ done }) => done))
    },
  }
}

/** Ends an open run unless the process that runs it still lives on this machine. */
async function endIfDead(log: ConversationLog, id: string, runId: string): Promise<boolean> {
  for await (const { event } of readAll(log, id)) {
    if (event.type === 'RUN_STARTED' && event.runId === runId && isAlive(event.owner)) return false
  }
  const message = 'The run was interrupted: its process ended before it did'
  await log.append(id, [{ type: 'RUN_ERROR', threadId: id, runId, code: 'interrupted', message }])
  return true
}

function isAlive(owner: { host: string; pid: number } | undefined): boolean {
  // A process of this number that is this one is not the one that started the run: this one would know of it.
  if (!owner || owner.host !== hostname() || owner.pid === process.pid) return false
  try {
    process.kill(owner.pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

function isAssets(value: AgentOptions['assets']): value is Assets {
  return value !== undefined && 'resolve' in value
}

function busy(conversation: string): ByrefError {
  return new ByrefError(
    'conversation_busy',
    `A run is going on in the conversation "${conversation}": wait for its end, or cancel it`,
  )
}

function refuseDuplicates(tools: readonly Tool[]): void {
  const ids = tools.map(({ id }) => id)
  const twice = ids.find((id, i) => ids.indexOf(id) !== i)
  if (twice === undefined) return
  throw new ByrefError('config_invalid', `Two tools have the id "${twice}": ids must be unique`)
}
