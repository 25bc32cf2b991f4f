import type { Agent } from '../../../agent/agent-contract.ts'
import { type ChatFeed, openFeed } from './chat-feed.ts'
import type { IsRun, UIChunkOptions } from './ui-chunks.ts'

/** The runs that somebody watches, or did while they went on: each is watched once, for all. */
export interface ChatFeeds {
  /** Watches the run that is meant. */
  open(agent: Agent, conversation: string, isRun: IsRun): Promise<ChatFeed>
  /** The run that is under way, also one that another process began; null where there is none. */
  current(agent: Agent, conversation: string): Promise<ChatFeed | null>
}

/** Of more than these, those that wait for people are made anew from the log when somebody asks for them. */
const MAX_FEEDS = 1_000

/** Begins with none. */
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
    // One that waits for the run before it is watched by who asked for it.
    if (feed.isOver || feeds.has(key)) return feed
    feeds.set(key, feed)
    // What waits for people may do so for days.
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
      // Where nobody works on it, this process does.
      agent.resume(id).result.catch(() => {})
      return feed.isOver ? null : feed
    },
  }
}
