import type { UIMessageChunk } from 'ai'
import type { Agent } from '../../../agent/agent-contract.ts'
import type { AskedCall } from '../../../core/events/conversation-state.ts'
import type { ConversationEvent } from '../../../core/events/events.ts'
import { readAll } from '../../../log/conversation-log.ts'
import { followConversation } from '../../serving/follow-conversation.ts'
import { failureText } from '../../serving/request-handler.ts'
import { answersFirst, type IsRun, RunChunks, type UIChunkOptions } from './ui-chunks.ts'

/**
 * Maximum number of feeds. Above it, feeds that wait for people are dropped. Requests rebuild them from the log.
 */
const MAX_FEEDS = 1_000

/** The runs that are watched, or were watched until they paused. Each run has one feed for all its viewers. */
export class ChatFeeds {
  readonly #options: UIChunkOptions
  readonly #feeds = new Map<string, ChatFeed>()

  constructor(options: UIChunkOptions) {
    this.#options = options
  }

  /** Watches the run that `isRun` accepts. */
  async open(agent: Agent, conversation: string, isRun: IsRun): Promise<ChatFeed> {
    const feeds = this.#feeds
    const key = keyOf(agent, conversation)
    let feed: ChatFeed | null = null
    const onEnd = (): void => {
      if (feeds.get(key) === feed) feeds.delete(key)
    }
    feed = await openFeed(agent, conversation, { ...this.#options, isRun, onEnd })
    // While the feed of the previous run is open, only this caller watches the new one.
    if (feed.isOver || feeds.has(key)) return feed
    feeds.set(key, feed)
    // A run that waits for people may wait for days.
    if (feeds.size > MAX_FEEDS) [...feeds.values()].find((one) => one.waiting().length > 0)?.close()
    return feed
  }

  /** Returns the current run, also one that another process started. Null if no run is open. */
  async current(agent: Agent, conversation: string): Promise<ChatFeed | null> {
    const known = this.#feeds.get(keyOf(agent, conversation))
    if (known) return known
    const runId = (await agent.log.find(conversation))?.openRun ?? null
    if (runId === null) return null
    const feed = await this.open(agent, conversation, (started) => started.runId === runId)
    // Continue the run here, in case no process works on it.
    agent.resume(conversation).result.catch(() => {})
    return feed.isOver ? null : feed
  }
}

function keyOf({ log }: Agent, conversation: string): string {
  return JSON.stringify([log.namespace, conversation])
}

/** One run, shared by everybody who watches it. The run continues even if nobody watches. */
export interface ChatFeed {
  /**
   * Streams the chunks so far and those to come, until the run ends or waits only for people. `start` begins at the
   * start of the run. `pause` begins where the run last waited, and continues the same message.
   */
  stream(from: 'start' | 'pause'): ReadableStream<UIMessageChunk>
  /** Notes that the log has people's answers to these calls. */
  answered(toolCallIds: readonly string[]): void
  /** Returns the calls that wait for people. Empty while anything else is running. */
  waiting(): readonly AskedCall[]
  readonly isOver: boolean
  /** Stops watching. */
  close(): void
}

/**
 * Watches a run, which may not have started yet.
 *
 * @param onEnd Called once, when the run has ended or is no longer watched.
 */
async function openFeed(
  agent: Agent,
  conversation: string,
  { isRun, onEnd, ...options }: UIChunkOptions & { isRun: IsRun; onEnd(): void },
): Promise<ChatFeed> {
  const followed = await followConversation(agent, conversation)
  const run = new RunChunks(isRun, options)
  const chunks: UIMessageChunk[] = []
  const readers = new Set<ReadableStreamDefaultController<UIMessageChunk>>()
  const answered = new Set<string>()
  let pausedAt = 0
  let hasPaused = false
  let isClosed = false

  /** Returns the calls that wait for people. Empty while anything else is running. */
  function waiting(): readonly AskedCall[] {
    if (run.runId === '' || run.isOver) return []
    const calls = followed.waiting() ?? []
    return calls.some(({ id }) => answered.has(id)) ? [] : calls
  }

  function push(event: ConversationEvent): void {
    for (const chunk of run.take(event)) {
      chunks.push(chunk)
      for (const reader of readers) reader.enqueue(chunk)
    }
  }

  function pause(): void {
    // The person who answers has seen the chunks up to the first pause, whatever others have started since.
    if (!hasPaused) pausedAt = chunks.length
    hasPaused = true
    for (const reader of readers) reader.enqueue(PAUSE)
    release()
  }

  function release(): void {
    for (const reader of readers) reader.close()
    readers.clear()
  }

  function close(): void {
    if (isClosed) return
    isClosed = true
    followed.close()
    release()
    onEnd()
  }

  function fail(error: unknown): void {
    for (const reader of readers) reader.enqueue({ type: 'error', errorText: failureText(error) })
    close()
  }

  async function follow(): Promise<void> {
    for await (const { event } of followed) {
      push(event)
      if (run.isOver) break
      if (waiting().length > 0) pause()
    }
    close()
  }

  const records = await Array.fromAsync(readAll(agent.log, conversation)).catch((error) => {
    followed.close()
    throw error
  })
  const { position } = followed.state
  for (const event of answersFirst(records.filter((one) => one.position <= position))) {
    push(event)
    // Assume that the browser has seen everything up to the last question: what it really saw is no longer known.
    if (event.type === 'APPROVAL_REQUESTED') pausedAt = chunks.length
  }
  hasPaused = waiting().length > 0
  if (hasPaused) pausedAt = chunks.length
  if (run.isOver) close()
  else follow().catch(fail)

  return {
    waiting,
    get isOver() {
      return run.isOver
    },
    answered(ids) {
      for (const id of ids) answered.add(id)
      if (ids.length > 0) hasPaused = false
    },
    close,
    stream(from) {
      let output: ReadableStreamDefaultController<UIMessageChunk>
      return new ReadableStream<UIMessageChunk>({
        start(controller) {
          output = controller
          const start: UIMessageChunk = { type: 'start', messageId: run.runId }
          const shown = from === 'start' ? chunks : [start, ...chunks.slice(pausedAt)]
          for (const chunk of shown) controller.enqueue(chunk)
          const isPaused = waiting().length > 0
          if (isPaused) controller.enqueue(PAUSE)
          if (isClosed || isPaused) controller.close()
          else readers.add(controller)
        },
        cancel() {
          readers.delete(output)
        },
      })
    },
  }
}

const PAUSE: UIMessageChunk = { type: 'finish', finishReason: 'tool-calls' }
