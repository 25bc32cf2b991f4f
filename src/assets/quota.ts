import { ByrefError } from '../errors.ts'
import type { StoreUsage } from './asset-store.ts'

/** Room that a save has taken; `end` says how it went. */
export interface Reservation {
  /** Bytes that the body may still have. */
  room: number
  /** Counts what was saved, or, with null, gives the room back. */
  end(savedBytes: number | null): void
}

/** Keeps namespaces within their quotas. */
export interface Quota {
  /**
   * Takes room for one more asset of at least `bytes`.
   *
   * @throws ByrefError `quota_exceeded`
   */
  reserve(namespace: string | null, bytes: number): Promise<Reservation>
  /** Something was removed: what is left is asked again. */
  forget(namespace: string | null): void
}

interface Account {
  used: StoreUsage
  /** Of saves that are under way. */
  assets: number
  bytes: number
  readAt: number
}

/** Another process may save too: what it saved is seen after this time. */
const STALE_MS = 30_000

/**
 * Quotas over what a store says it holds. Bytes are those of distinct bodies: where the count says that there is no room,
 * the store is asked again before a save is refused.
 */
export function createQuota(
  limits: { quotaBytes: number; quotaAssets: number },
  usage: (namespace: string | null) => Promise<StoreUsage>,
): Quota {
  const { quotaBytes, quotaAssets } = limits
  const accounts = new Map<string | null, Account>()
  const unlimited = quotaBytes === Infinity && quotaAssets === Infinity

  async function read(namespace: string | null): Promise<Account> {
    const used = await usage(namespace)
    const account = accounts.get(namespace) ?? { used, assets: 0, bytes: 0, readAt: 0 }
    account.used = used
    account.readAt = Date.now()
    accounts.set(namespace, account)
    return account
  }

  function hasRoom({ used, assets, bytes }: Account, more: number): boolean {
    return used.assets + assets < quotaAssets && used.bytes + bytes + more <= quotaBytes
  }

  return {
    async reserve(namespace, more) {
      if (unlimited) return { room: Infinity, end() {} }
      let account = accounts.get(namespace)
      if (!account || Date.now() - account.readAt > STALE_MS) account = await read(namespace)
      if (!hasRoom(account, more)) account = await read(namespace)
      if (!hasRoom(account, more)) throw exceeded(limits)
      account.assets++
      account.bytes += more
      const reserved = account
      const room = quotaBytes - account.used.bytes - account.bytes + more
      return {
        room,
        end(saved) {
          reserved.assets--
          reserved.bytes -= more
          if (saved === null) return
          const { used } = reserved
          reserved.used = { assets: used.assets + 1, bytes: used.bytes + saved }
        },
      }
    },
    forget(namespace) {
      const account = accounts.get(namespace)
      if (account) account.readAt = 0
    },
  }
}

/** The error of a save that a namespace has no room for. */
export function exceeded(limits: { quotaBytes: number; quotaAssets: number }): ByrefError {
  const { quotaBytes, quotaAssets } = limits
  const most = [
    ...(quotaAssets === Infinity ? [] : [`${quotaAssets} assets (limits.quotaAssets)`]),
    ...(quotaBytes === Infinity ? [] : [`${quotaBytes} bytes (limits.quotaBytes)`]),
  ]
  return new ByrefError(
    'quota_exceeded',
    `There is no room: a namespace may hold ${most.join(' and ')}. Delete some assets first.`,
  )
}
