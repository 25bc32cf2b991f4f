import type { ConversationLog } from '../../../src/log/conversation-log.ts'
import type { Life } from './life.ts'

/** Maximum duration of a lease in milliseconds, so that nobody waits long for dead processes. */
const LEASE_MS = 20

/**
 * A log for a process that can die. It has a point before each append, and one after it is stored and before anybody
 * is notified. When the process is dead, it does nothing and notifies nobody.
 *
 * @param leaseMs A value above the writer's own has no effect.
 */
export function mortalLog(log: ConversationLog, life: Life, leaseMs = LEASE_MS): ConversationLog {
  return {
    ...log,
    scoped: (namespace) => mortalLog(log.scoped(namespace), life, leaseMs),
    create: (id) => life.during(() => log.create(id)),
    find: (id) => life.during(() => log.find(id)),
    list: (options) => life.during(() => log.list(options)),
    read: (id, options) => life.during(() => log.read(id, options)),
    debug: (id, messageId) => life.during(() => log.debug(id, messageId)),
    async append(id, events, options = {}) {
      const { lease } = options
      const short = lease && { ...lease, ms: Math.min(lease.ms, leaseMs) }
      await life.pass()
      const records = await log.append(id, events, { ...options, lease: short })
      await life.pass()
      return records
    },
    renew: (id, { owner, ms }) =>
      life.during(() => log.renew(id, { owner, ms: Math.min(ms, leaseMs) })),
    subscribe: (listener, options) =>
      log.subscribe((change) => {
        if (life.alive) listener(change)
      }, options),
  }
}
