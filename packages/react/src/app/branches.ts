import type { ConversationSummary, Message } from 'byref/client'

/** The part of a conversation's summary that its versions depend on. */
export type Version = Pick<ConversationSummary, 'id' | 'createdAt' | 'branch'>

/** The versions that a conversation has from a message on: their conversations, oldest first, and which one is shown. */
export interface Versions {
  ids: readonly string[]
  index: number
  /** The last message that all of them have; null for none. */
  at: string | null
}

/** Returns the id that a conversation has in common with all its versions. */
export function rootOf({ id, branch }: Pick<ConversationSummary, 'id' | 'branch'>): string {
  return branch?.root ?? id
}

/** Keeps the first of all versions of a conversation: in a list, the one that was changed last. */
export function newestVersions(list: readonly ConversationSummary[]): ConversationSummary[] {
  const seen = new Set<string>()
  return list.filter((one) => {
    const root = rootOf(one)
    return !seen.has(root) && seen.add(root)
  })
}

/** A conversation in a list, and those in which sub-agents answer its calls. */
export interface Listed {
  conversation: ConversationSummary
  subs: readonly ConversationSummary[]
}

/** Puts the conversations of sub-agents below those that called them. Those of unknown callers stay in their places. */
export function withSubs(list: readonly ConversationSummary[]): Listed[] {
  const byId = new Map(list.map((one) => [one.id, one]))
  const bySource = Map.groupBy(list, ({ id }) => {
    // The id is that of the calling conversation, and of the call. A sub-agent may have sub-agents.
    const parts = id.split('/')
    const source = parts.flatMap((_, at) => byId.get(parts.slice(0, at).join('/')) ?? [])[0]
    return source ? rootOf(source) : null
  })
  return newestVersions(bySource.get(null) ?? []).map((conversation) => ({
    conversation,
    subs: bySource.get(rootOf(conversation)) ?? [],
  }))
}

/**
 * Returns the versions of a conversation by the message that each begins with. `family` are the conversation and all
 * branches of its root.
 */
export function versionsIn(
  id: string,
  family: readonly Version[],
  messages: readonly Message[],
): ReadonlyMap<string, Versions> {
  const byId = new Map(family.map((one) => [one.id, one]))
  const found = new Map<string, Versions>()
  const passed = new Set<string>()
  // From this conversation back to the one that wrote its first message.
  for (let current: string | undefined = id, taken = id; current && !passed.has(current); ) {
    passed.add(current)
    const here: string = current
    const forks = family.filter(({ branch }) => branch?.from === here)
    for (const [at, made] of Map.groupBy(forks, ({ branch }) => branch?.at ?? null)) {
      const first = firstAfter(messages, at)
      if (!first) continue
      const later = made.toSorted((a, b) => a.createdAt.localeCompare(b.createdAt))
      const ids = [...(byId.has(here) ? [here] : []), ...later.map((one) => one.id)]
      const index = Math.max(0, ids.indexOf(byId.get(taken)?.branch?.at === at ? taken : here))
      found.set(first.id, { ids, index, at })
    }
    taken = here
    current = byId.get(here)?.branch?.from
  }
  return found
}

/** Returns the message that a version begins with, after the last shared one. */
function firstAfter(messages: readonly Message[], at: string | null): Message | undefined {
  const start = at === null ? 0 : messages.findIndex(({ id }) => id === at) + 1
  if (at !== null && start === 0) return undefined
  const own = messages.slice(start)
  return own.find(({ sender }) => sender?.participant_role === 'user') ?? own[0]
}
