import type { UIMessageChunk } from 'ai'
import type { Agent } from '../../../agent/agent-contract.ts'
import type { ConversationEvent, LogRecord } from '../../../content/events.ts'
import { readAll } from '../../../log/conversation-log.ts'
import { answersFirst, createUIChunks, type UIChunkOptions } from './ui-chunks.ts'

/** One run, for all who watch it: it goes on whether or not anybody does. */
export interface ChatFeed {
  /**
   * What there is and what comes, until the run has ended or waits for people alone. `start`: from its beginning; `pause`:
   * from where it waited last, as the same message.
   */
  stream(from: 'start' | 'pause'): ReadableStream<UIMessageChunk>
  /** Says that people's answers are in the log. */
  answered(toolCallIds: readonly string[]): void
  /** Whether it waits for people alone. */
  readonly isPaused: boolean
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
    isRun: Parameters<typeof createUIChunks>[0]
    onEnd(): void
  },
): Promise<ChatFeed> {
  const { log } = agent
  const made = createUIChunks(isRun, options)
  const chunks: UIMessageChunk[] = []
  const readers = new Set<ReadableStreamDefaultController<UIMessageChunk>>()
  let pausedAt = 0
  let hasPaused = false
  let position = 0
  let meanwhile: LogRecord[] | null = []

  const offLog = log.subscribe((change) => {
    if (change.conversation !== conversation) return
    if (change.deleted) return close()
    if (meanwhile) meanwhile.push(...change.records)
    else for (const record of change.records) takeRecord(record)
  })
  const offStream = agent.onStream((id, event, { namespace }) => {
    if (id === conversation && namespace === log.namespace) take(event)
  })

  function takeRecord(record: LogRecord): void {
    if (record.position <= position) return
    position = record.position
    take(record.event)
  }

  function take(event: ConversationEvent): void {
    for (const chunk of made.take(event)) {
      chunks.push(chunk)
      for (const reader of readers) reader.enqueue(chunk)
    }
    if (made.isOver) close()
    else if (made.isPaused) pause()
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

  let isClosed = false
  function close(): void {
    if (isClosed) return
    isClosed = true
    offLog()
    offStream()
    letGo()
    onEnd()
  }

  const before: LogRecord[] = []
  for await (const record of readAll(log, conversation)) before.push(record)
  for (const event of answersFirst(before)) {
    // What was seen of it is not known any more: until the last question, as it seems.
    if (event.type === 'APPROVAL_ANSWERED') hasPaused = false
    take(event)
  }
  position = before.at(-1)?.position ?? 0
  for (const record of meanwhile) takeRecord(record)
  meanwhile = null

  return {
    get isPaused() {
      return made.isPaused
    },
    get isOver() {
      return made.isOver
    },
    answered(ids) {
      for (const id of ids) made.answered(id)
      if (ids.length > 0) hasPaused = false
    },
    close,
    stream(from) {
      let own: ReadableStreamDefaultController<UIMessageChunk>
      return new ReadableStream<UIMessageChunk>({
        start(controller) {
          own = controller
          const start: UIMessageChunk = { type: 'start', messageId: made.runId }
          const before = from === 'start' ? chunks : [start, ...chunks.slice(pausedAt)]
          for (const chunk of before) controller.enqueue(chunk)
          if (made.isPaused) controller.enqueue(PAUSE)
          if (isClosed || made.isPaused) controller.close()
          else readers.add(controller)
        },
        cancel: () => void readers.delete(own),
      })
    },
  }
}

const PAUSE: UIMessageChunk = { type: 'finish', finishReason: 'tool-calls' }
