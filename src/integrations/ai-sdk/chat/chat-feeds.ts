import type { Agent } from '../../../agent/agent-contract.ts'
import { type ChatFeed, openFeed } from './chat-feed.ts'
import type { IsRun, UIChunkOptions } from './ui-chunks.ts'

/** The runs that are watched, or were watched until they paused. Each run has one feed for all its viewers. */
export interface ChatFeeds {
  /** Watches the run that `isRun` accepts. */
  open(agent: Agent, conversation: string, isRun: IsRun): Promise<ChatFeed>
  /** Returns the current run, also one that another process started. Null if no run is open. */
  current(agent: Agent, conversation: string): Promise<ChatFeed | null>
}

/**
 * Above this number, feeds that wait for people are dropped. They are rebuilt from the log when somebody asks for them.
 */
const MAX_FEEDS = 1_000

/** Creates an empty set of feeds. */
export function createChatFeeds(options: UIChunkOptions): ChatFeeds {
  const feeds = new Map<string, ChatFeed>()
  const keyOf = ({ log }: Agent, id: string): string => JSON.stringify([log.namespace, id])

  async function open(...[agent, id, isRun]: Parameters<ChatFeeds['open']>): Promise<ChatFeed> {
    const key = keyOf(agent, id)
    let feed: ChatFeed | null = null
    const onEnd = (): void => {
      if (feeds.get(key) === feed) feeds.delete(key)
    }
    feed = await openFeed(agent, id, { ...options, isRun, onEnd })
    // While the feed of the previous run is open, only this caller watches the new one.
    if (feed.isOver || feeds.has(key)) return feed
    feeds.set(key, feed)
    // A run that waits for people may wait for days.
    const [idle] =
      feeds.size > MAX_FEEDS ? [...feeds.values()].filter((one) => one.waiting().length > 0) : []
    idle?.close()
    return feed
  }

  return {
    open,
    async current(agent, id) {
      const known = feeds.get(keyOf(agent, id))
      if (known) return known
      const runId = (await agent.log.find(id))?.openRun ?? null
      if (runId === null) return null
      const feed = await open(agent, id, (started) => started.runId === runId)
      // Continue the run here, in case no process works on it.
      agent.resume(id).result.catch(() => {})
      return feed.isOver ? null : feed
    },
  }
}
