import { hostname } from 'node:os'
import type { ConversationEvent } from '../content/events.ts'
import type { Foldable } from '../content/fold.ts'
import type { Message } from '../content/message.ts'
import { newId } from '../content/new-id.ts'
import type { MessageInput } from '../content/to-message.ts'
import type { ConversationLog } from '../log/conversation-log.ts'
import { acceptMessages } from './accept-messages.ts'
import { eventQueue } from './event-queue.ts'
import { type RunResult, runLoop } from './loop.ts'
import type { AgentSettings } from './run-settings.ts'
import { openThread, type Thread } from './thread.ts'

/** What to run. */
export interface RunOptions {
  messages: readonly MessageInput[]
  /** The conversation's id; a new one by default. */
  conversation?: string
  /** The namespace of the assets in this run; default the agent's. */
  namespace?: string
  signal?: AbortSignal
}

/**
 * One run, which goes on whether or not anybody watches. Iterating it gives its events, from the first; the bodies of
 * new assets are read by `assets`, or in `callbacks.onEvent`.
 */
export interface Run extends AsyncIterable<ConversationEvent> {
  readonly id: string
  readonly conversation: string
  /** The ids of the messages that started it; empty until they are in the log. */
  readonly messageIds: readonly string[]
  /** Resolves when the run has ended; rejects with the ByrefError of a `RUN_ERROR`. */
  readonly result: Promise<RunResult>
  /** The conversation's messages so far. */
  readonly messages: readonly Message[]
  cancel(): void
}

/** A run that was begun. */
export interface BegunRun {
  run: Run
  /** Resolves when its messages are in the log; rejects with what `run.result` rejects with, if that comes first. */
  accepted: Promise<void>
}

/** What a run needs beside what is asked of it. */
export interface RunContext {
  log: ConversationLog
  settings: AgentSettings
  /** Hears of every event, in order, and is waited for. */
  tell(conversation: string, event: Foldable): Promise<void>
}

/** The event as it can be kept for whoever iterates later: a run must not hold the bodies of all its assets. */
function withoutBody(event: ConversationEvent): ConversationEvent {
  return event.type === 'ASSET_CREATED' ? { ...event, payload: { ...event.payload } } : event
}

/** Begins a run at once: messages into the log, then the loop. */
export function beginRun(
  { log, settings, tell }: RunContext,
  { messages, conversation = newId(), namespace, signal }: RunOptions,
): BegunRun {
  const id = newId()
  const controller = new AbortController()
  const queue = eventQueue<ConversationEvent>()
  const messageIds: string[] = []
  const accepted = Promise.withResolvers<void>()
  let thread: Thread | null = null
  let handlerFailure: { error: unknown } | null = null

  async function work(): Promise<RunResult> {
    const opened = await openThread(log, conversation, async (told) => {
      queue.push(withoutBody(told.event))
      // A handler that throws stops the run, which then ends as any other: with one terminal event.
      await tell(conversation, told).catch((error: unknown) => {
        handlerFailure ??= { error }
        controller.abort()
      })
    })
    thread = opened
    const assets = namespace === undefined ? settings.assets : settings.assets.scoped({ namespace })
    const { assets: noted } = opened.state
    for (const created of noted) assets.remember(created)
    const known = new Set(noted.map(({ ref }) => ref))
    const input = await acceptMessages(messages, assets, known)
    await opened.append([
      ...input.events,
      {
        type: 'RUN_STARTED',
        threadId: conversation,
        runId: id,
        model: settings.model.modelId,
        owner: { host: hostname(), pid: process.pid },
      },
    ])
    messageIds.push(...input.messageIds)
    accepted.resolve()
    const outcome = await runLoop(opened, {
      ...settings,
      assets,
      runId: id,
      signal: signal ? AbortSignal.any([signal, controller.signal]) : controller.signal,
      failure: () => handlerFailure,
    })
    // The last event's handler may throw too, when the run has ended already.
    if (handlerFailure) throw handlerFailure.error
    return outcome
  }

  const result = work()
  accepted.promise.catch(() => {})
  result.then(queue.end, (error: unknown) => {
    // A run that started has told of its failure by RUN_ERROR; one that did not start has nothing else to tell.
    if (messageIds.length > 0) queue.end()
    else queue.fail(error)
    accepted.reject(error)
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
  return { run, accepted: accepted.promise }
}
