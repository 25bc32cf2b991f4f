import type { UIMessageChunk } from 'ai'
import type { Agent } from '../../../agent/agent-contract.ts'
import type { AskedCall } from '../../../core/events/conversation-state.ts'
import type { ConversationEvent } from '../../../core/events/events.ts'
import { readAll } from '../../../log/conversation-log.ts'
import { type FollowedConversation, followConversation } from '../../serving/follow-conversation.ts'
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
    const followed = await followConversation(agent, conversation)
    const feed = new ChatFeed(followed, new RunChunks(isRun, this.#options), () => {
      if (feeds.get(key) === feed) feeds.delete(key)
    })
    await feed.begin(agent, conversation)
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
export class ChatFeed {
  readonly #followed: FollowedConversation
  readonly #run: RunChunks
  readonly #onEnd: () => void
  readonly #chunks: UIMessageChunk[] = []
  readonly #readers = new Set<ReadableStreamDefaultController<UIMessageChunk>>()
  readonly #answered = new Set<string>()
  #pausedAt = 0
  #hasPaused = false
  #isClosed = false

  /** @param onEnd Called once, when the run has ended or is no longer watched. */
  constructor(followed: FollowedConversation, run: RunChunks, onEnd: () => void) {
    this.#followed = followed
    this.#run = run
    this.#onEnd = onEnd
  }

  get isOver(): boolean {
    return this.#run.isOver
  }

  /** Reads the run so far, and starts to watch it. It may not have started yet. */
  async begin({ log }: Agent, conversation: string): Promise<void> {
    const records = await Array.fromAsync(readAll(log, conversation)).catch((error) => {
      this.#followed.close()
      throw error
    })
    const { position } = this.#followed.state
    for (const event of answersFirst(records.filter((one) => one.position <= position))) {
      this.#push(event)
      // Assume that the browser has seen everything up to the last question: what it really saw is no longer known.
      if (event.type === 'APPROVAL_REQUESTED') this.#pausedAt = this.#chunks.length
    }
    this.#hasPaused = this.waiting().length > 0
    if (this.#hasPaused) this.#pausedAt = this.#chunks.length
    if (this.isOver) this.close()
    else this.#follow().catch((error) => this.#fail(error))
  }

  /**
   * Streams the chunks so far and those to come, until the run ends or waits only for people. `start` begins at the
   * start of the run. `pause` begins where the run last waited, and continues the same message.
   */
  stream(from: 'start' | 'pause'): ReadableStream<UIMessageChunk> {
    const readers = this.#readers
    let output: ReadableStreamDefaultController<UIMessageChunk>
    return new ReadableStream<UIMessageChunk>({
      start: (controller) => {
        output = controller
        const start: UIMessageChunk = { type: 'start', messageId: this.#run.runId }
        const shown =
          from === 'start' ? this.#chunks : [start, ...this.#chunks.slice(this.#pausedAt)]
        for (const chunk of shown) controller.enqueue(chunk)
        const isPaused = this.waiting().length > 0
        if (isPaused) controller.enqueue(PAUSE)
        if (this.#isClosed || isPaused) controller.close()
        else readers.add(controller)
      },
      cancel() {
        readers.delete(output)
      },
    })
  }

  /** Notes that the log has people's answers to these calls. */
  answered(toolCallIds: readonly string[]): void {
    for (const id of toolCallIds) this.#answered.add(id)
    if (toolCallIds.length > 0) this.#hasPaused = false
  }

  /** Returns the calls that wait for people. Empty while anything else is running. */
  waiting(): readonly AskedCall[] {
    if (this.#run.runId === '' || this.isOver) return []
    const calls = this.#followed.waiting() ?? []
    return calls.some(({ id }) => this.#answered.has(id)) ? [] : calls
  }

  /** Stops watching. */
  close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#followed.close()
    this.#release()
    this.#onEnd()
  }

  async #follow(): Promise<void> {
    for await (const { event } of this.#followed) {
      this.#push(event)
      if (this.isOver) break
      if (this.waiting().length > 0) this.#pause()
    }
    this.close()
  }

  #push(event: ConversationEvent): void {
    for (const chunk of this.#run.take(event)) {
      this.#chunks.push(chunk)
      this.#send(chunk)
    }
  }

  #pause(): void {
    // The person who answers has seen the chunks up to the first pause, whatever others have started since.
    if (!this.#hasPaused) this.#pausedAt = this.#chunks.length
    this.#hasPaused = true
    this.#send(PAUSE)
    this.#release()
  }

  #fail(error: unknown): void {
    this.#send({ type: 'error', errorText: failureText(error) })
    this.close()
  }

  #send(chunk: UIMessageChunk): void {
    for (const reader of this.#readers) reader.enqueue(chunk)
  }

  #release(): void {
    for (const reader of this.#readers) reader.close()
    this.#readers.clear()
  }
}

const PAUSE: UIMessageChunk = { type: 'finish', finishReason: 'tool-calls' }
