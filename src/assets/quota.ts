import { ByrefError } from '../errors.ts'
import type { StoreUsage } from './asset-store.ts'

/** Room that a save has taken. */
export interface Reservation {
  /**
   * Takes more room, until it is `bytes` in all. Where there is none, what was taken before is given back at once, so
   * that of several saves that do not fit together some do.
   *
   * @throws ByrefError `quota_exceeded`
   */
  growTo(bytes: number): Promise<void>
  /** Counts the room as used, or gives it back. */
  end(saved: boolean): void
}

/** Keeps namespaces within their quotas. */
export interface Quota {
  /**
   * Takes room for one more asset of `bytes`, all its bodies counted.
   *
   * @throws ByrefError `quota_exceeded`
   */
  reserve(namespace: string | null, bytes: number): Promise<Reservation>
  /** Something was removed: what is left is asked again. */
  forget(namespace: string | null): void
}

/** Limits of one namespace; `Infinity` where there is none. */
export interface QuotaLimits {
  quotaBytes: number
  quotaAssets: number
}

interface Account {
  /** What the store said that it holds, */
  told: StoreUsage
  /** and how much had been saved here when it was asked. */
  savedBefore: StoreUsage
  /** Everything that was saved here. */
  saved: StoreUsage
  /** Room of saves that are under way. */
  open: StoreUsage
  readAt: number
  reading: Promise<void> | null
}

/** Another process may save too: what it saved is seen after this time. */
const STALE_MS = 30_000

const NO_QUOTA: Quota = {
  async reserve() {
    return { async growTo() {}, end() {} }
  },
  forget() {},
}

/**
 * Quotas over what a store says it holds, and what was saved since. Bytes are those of distinct bodies: where the count
 * says that there is no room, the store is asked again before a save is refused.
 */
export function createQuota(
  limits: QuotaLimits,
  usage: (namespace: string | null) => Promise<StoreUsage>,
): Quota {
  const { quotaBytes, quotaAssets } = limits
  if (quotaBytes === Infinity && quotaAssets === Infinity) return NO_QUOTA
  const accounts = new Map<string | null, Account>()

  function accountOf(namespace: string | null): Account {
    const account = accounts.get(namespace) ?? newAccount()
    accounts.set(namespace, account)
    return account
  }

  /** Asks the store; who asks while it answers waits for the same answer. */
  function read(account: Account, namespace: string | null): Promise<void> {
    async function ask(): Promise<void> {
      const savedBefore = { ...account.saved }
      account.told = await usage(namespace)
      account.savedBefore = savedBefore
      account.readAt = Date.now()
    }
    account.reading ??= ask().finally(() => {
      account.reading = null
    })
    return account.reading
  }

  function fits({ told, savedBefore, saved, open }: Account, more: StoreUsage): boolean {
    const held = (what: keyof StoreUsage): number =>
      told[what] + saved[what] - savedBefore[what] + open[what] + more[what]
    return held('assets') <= quotaAssets && held('bytes') <= quotaBytes
  }

  /** Takes room; where there is none, `giveBack` runs before anybody else looks for some. */
  async function take(
    namespace: string | null,
    more: StoreUsage,
    giveBack: () => void = () => {},
  ): Promise<Account> {
    const account = accountOf(namespace)
    if (Date.now() - account.readAt > STALE_MS) await read(account, namespace)
    // Twice: the first answer may be one that was on its way before something was removed.
    for (let i = 0; i < 2 && !fits(account, more); i++) await read(account, namespace)
    if (!fits(account, more)) {
      giveBack()
      throw exceeded(limits)
    }
    add(account.open, more)
    return account
  }

  return {
    async reserve(namespace, bytes) {
      const taken = { assets: 1, bytes }
      let isOver = false
      const { open, saved } = await take(namespace, taken)
      const giveBack = (): void => {
        subtract(open, taken)
        subtract(taken, { ...taken })
      }
      return {
        async growTo(size) {
          const more = { assets: 0, bytes: size - taken.bytes }
          if (more.bytes <= 0) return
          await take(namespace, more, giveBack)
          add(taken, more)
          // It was aborted while the store was asked.
          if (isOver) giveBack()
        },
        end(isSaved) {
          isOver = true
          if (isSaved) add(saved, taken)
          giveBack()
        },
      }
    },
    forget(namespace) {
      const account = accounts.get(namespace)
      if (account) account.readAt = 0
    },
  }
}

function newAccount(): Account {
  const nothing = (): StoreUsage => ({ assets: 0, bytes: 0 })
  return {
    told: nothing(),
    savedBefore: nothing(),
    saved: nothing(),
    open: nothing(),
    readAt: 0,
    reading: null,
  }
}

function add(sum: StoreUsage, more: StoreUsage): void {
  sum.assets += more.assets
  sum.bytes += more.bytes
}

function subtract(sum: StoreUsage, less: StoreUsage): void {
  sum.assets -= less.assets
  sum.bytes -= less.bytes
}

function exceeded({ quotaBytes, quotaAssets }: QuotaLimits): ByrefError {
  const most = [
    ...(quotaAssets === Infinity ? [] : [`${quotaAssets} assets (limits.quotaAssets)`]),
    ...(quotaBytes === Infinity ? [] : [`${quotaBytes} bytes (limits.quotaBytes)`]),
  ]
  return new ByrefError(
    'quota_exceeded',
    `There is no room: a namespace may hold ${most.join(' and ')}. Delete some assets first.`,
  )
}
