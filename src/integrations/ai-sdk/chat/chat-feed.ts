import type { UIMessageChunk } from 'ai'
import type { Agent } from '../../../agent/agent-contract.ts'
import type { ConversationEvent, LogRecord } from '../../../core/events/events.ts'
import { readAll } from '../../../log/conversation-log.ts'
import { followConversation } from '../../serving/follow-conversation.ts'
import { answersFirst, createUIChunks, type IsRun, type UIChunkOptions } from './ui-chunks.ts'

/** One run, for all who watch it: it goes on whether or not anybody does. */
export interface ChatFeed {
  /**
   * What there is and what comes, until the run has ended or waits for people alone. `start`: from its beginning; `pause`:
   * from where it waited last, as the same message.
   */
  stream(from: 'start' | 'pause'): ReadableStream<UIMessageChunk>
  /** Says that people's answers are in the log. */
  answered(toolCallIds: readonly string[]): void
  /** The calls that wait for people, where nothing else goes on; none where something does. */
  waiting(): readonly string[]
  readonly isOver: boolean
  /** Watches no more. */
  close(): void
}

/**
 * Watches the run that is meant, which may be one that is still to begin.
 *
 * @param onEnd Told once, when the run has ended or is not watched any more.
 */
export async function openFeed(
  agent: Agent,
  conversation: string,
  {
    isRun,
    onEnd,
    ...options
  }: UIChunkOptions & {
    isRun: IsRun
    onEnd(): void
  },
): Promise<ChatFeed> {
  const followed = await followConversation(agent, conversation)
  const made = createUIChunks(agent, isRun, options)
  const chunks: UIMessageChunk[] = []
  const readers = new Set<ReadableStreamDefaultController<UIMessageChunk>>()
  const answered = new Set<string>()
  let pausedAt = 0
  let hasPaused = false
  let isClosed = false

  /** The calls that wait for people, where nothing else goes on. */
  function waiting(): readonly string[] {
    if (made.runId === '' || made.isOver) return []
    const ids = followed.waiting()?.map(({ id }) => id) ?? []
    return ids.some((id) => answered.has(id)) ? [] : ids
  }

  function push(event: ConversationEvent): void {
    for (const chunk of made.take(event)) {
      chunks.push(chunk)
      for (const reader of readers) reader.enqueue(chunk)
    }
  }

  function pause(): void {
    // Who answers has seen what came until the first time, whatever others have set going since.
    if (!hasPaused) pausedAt = chunks.length
    hasPaused = true
    for (const reader of readers) reader.enqueue(PAUSE)
    letGo()
  }

  function letGo(): void {
    for (const reader of readers) reader.close()
    readers.clear()
  }

  function close(): void {
    if (isClosed) return
    isClosed = true
    followed.close()
    letGo()
    onEnd()
  }

  async function follow(): Promise<void> {
    for await (const { event } of followed) {
      push(event)
      if (made.isOver) break
      if (waiting().length > 0) pause()
    }
    close()
  }

  const before: LogRecord[] = []
  for await (const record of readAll(agent.log, conversation)) {
    if (record.position <= followed.state.position) before.push(record)
  }
  for (const event of answersFirst(before)) {
    push(event)
    // What was seen is not known any more: all until the last question, as it seems.
    if (event.type === 'APPROVAL_REQUESTED') pausedAt = chunks.length
  }
  hasPaused = waiting().length > 0
  if (hasPaused) pausedAt = chunks.length
  if (made.isOver) close()
  else follow().catch(close)

  return {
    waiting,
    get isOver() {
      return made.isOver
    },
    answered(ids) {
      for (const id of ids) answered.add(id)
      if (ids.length > 0) hasPaused = false
    },
    close,
    stream(from) {
      let own: ReadableStreamDefaultController<UIMessageChunk>
      return new ReadableStream<UIMessageChunk>({
        start(controller) {
          own = controller
          const start: UIMessageChunk = { type: 'start', messageId: made.runId }
          const shown = from === 'start' ? chunks : [start, ...chunks.slice(pausedAt)]
          for (const chunk of shown) controller.enqueue(chunk)
          const isPaused = waiting().length > 0
          if (isPaused) controller.enqueue(PAUSE)
          if (isClosed || isPaused) controller.close()
          else readers.add(controller)
        },
        cancel() {
          readers.delete(own)
        },
      })
    },
  }
}

const PAUSE: UIMessageChunk = { type: 'finish', finishReason: 'tool-calls' }
