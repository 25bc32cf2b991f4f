import { inBackground } from '../../core/in-background.ts'
import { newId } from '../../core/new-id.ts'
import type { ConversationLog } from '../../log/conversation-log.ts'
import { publicSummary } from '../public-info.ts'
import { createChannel, jsonFrame, namedFrame } from './channel.ts'

/**
 * What changes in the list of a namespace's conversations: `{ conversation }` with the summary of one that changed, and
 * `{ deleted }` with the id of one that is gone. Changes that follow each other closely are told once.
 */
export interface NamespaceFeed {
  readonly readers: number
  changed(conversation: string, deleted: boolean): void
  /**
   * A stream of the changes behind the event with the id `last`. Where nobody knows any more what came behind it, an event
   * `reset` says that the list must be read again.
   */
  listen(last: string | null, onEnd: () => void): ReadableStream<Uint8Array>
  beat(): void
  close(): void
}

/** How long changes of one conversation are gathered, in milliseconds. */
const GATHER_MS = 100

/** Follows the conversations of a log's namespace. */
export function createNamespaceFeed(log: ConversationLog): NamespaceFeed {
  // Numbers of another start, or of a feed that nobody listened to for a while, mean nothing here.
  const mark = newId()
  const channel = createChannel({ after: 0, keepBytes: 256 * 1024 })
  const pending = new Map<string, NodeJS.Timeout>()
  let number = 0

  function push(value: unknown): void {
    number++
    channel.push(jsonFrame(value, { number, text: `${mark}-${number}` }))
  }

  async function tell(conversation: string): Promise<void> {
    pending.delete(conversation)
    // A log that fails now is asked again at the next change.
    const summary = await log.find(conversation).catch(() => null)
    if (summary) push({ conversation: publicSummary(summary) })
  }

  return {
    get readers() {
      return channel.readers
    },
    changed(conversation, deleted) {
      if (deleted) {
        clearTimeout(pending.get(conversation))
        pending.delete(conversation)
        push({ deleted: conversation })
      } else if (!pending.has(conversation)) {
        pending.set(
          conversation,
          setTimeout(
            () => inBackground('Telling of a conversation', tell(conversation)),
            GATHER_MS,
          ),
        )
      }
    },
    listen(last, onEnd) {
      const [its, after] = (last ?? '').split('-')
      const known = its === mark ? channel.since(Number(after)) : null
      const reset = { id: null, bytes: namedFrame('reset', {}) }
      const isReset = last !== null && known === null
      const from = isReset || last === null ? number : Number(after)
      return channel.listen({
        now: () => [...(isReset ? [reset] : []), ...(channel.since(from) ?? [])],
        onEnd,
      })
    },
    beat: () => channel.beat(),
    close() {
      for (const timer of pending.values()) clearTimeout(timer)
      channel.end()
    },
  }
}
