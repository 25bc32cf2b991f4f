import type { FullAssetStore } from '../../../src/assets/asset-store.ts'
import type { ConversationLog, LogChange } from '../../../src/log/conversation-log.ts'
import type { Scheduler } from './scheduler.ts'

/**
 * A log whose calls start late and return late. Changes of others arrive late, too, in order. Its own appends are
 * announced within the append, as the contract of logs requires.
 */
export function delayedLog(log: ConversationLog, scheduler: Scheduler): ConversationLog {
  const late = async <T>(work: () => Promise<T>): Promise<T> => {
    await scheduler.hops()
    try {
      return await work()
    } finally {
      await scheduler.hops()
    }
  }
  let own = 0
  let hearing = Promise.resolve()
  const hear = (listener: (change: LogChange) => void) => (change: LogChange) => {
    if (own > 0) return listener(change)
    hearing = hearing.then(() => scheduler.hop()).then(() => listener(change))
  }
  return {
    ...log,
    create: (id) => late(() => log.create(id)),
    find: (id) => late(() => log.find(id)),
    list: (options) => late(() => log.list(options)),
    read: (id, options) => late(() => log.read(id, options)),
    debug: (id, messageId) => late(() => log.debug(id, messageId)),
    renew: (id, lease) => late(() => log.renew(id, lease)),
    append: (id, events, options) =>
      late(() => {
        scheduler.note()
        own++
        try {
          return log.append(id, events, options)
        } finally {
          own--
        }
      }),
    subscribe: (listener, options) => log.subscribe(hear(listener), options),
  }
}

/** A store with a delay before each call. */
export function delayedStore(store: FullAssetStore, scheduler: Scheduler): FullAssetStore {
  const late =
    <Args extends unknown[], T>(work: (...args: Args) => Promise<T>) =>
    async (...args: Args): Promise<T> => {
      await scheduler.hops()
      const value = await work.apply(store, args)
      await scheduler.hops()
      return value
    }
  const methods = Object.entries(store).map(([name, value]) => {
    const isAsync = typeof value === 'function' && /^(save|get|info|record|resolve)/.test(name)
    return [name, isAsync ? late(value as (...args: unknown[]) => Promise<unknown>) : value]
  })
  return Object.fromEntries(methods) as FullAssetStore
}
