import { ByrefError } from '../../core/errors.ts'
import { warn } from '../../core/in-background.ts'
import { newId } from '../../core/new-id.ts'
import type { StoreSweepOptions, StoreSwept } from '../asset-store.ts'
import type { BodyStore, ListedBody } from '../bodies/body-store.ts'
import { inBatches } from '../in-batches.ts'
import { inParallel } from '../in-parallel.ts'
import type { PlacedBody } from '../records/record-index.ts'
import type { StoreParts } from './store-parts.ts'

const BATCH = 500
const DELETES_AT_ONCE = 16

/** Keys of the store's own bodies: the owner of the bodies, and a probe for the store's clock. */
const OWNER = 'owner/'
const CLOCK = 'clock/'

/** Returns whether a body belongs to the store itself, not to an asset. */
export function isOfStore(key: string): boolean {
  return key.startsWith(OWNER) || key.startsWith(CLOCK)
}

/** Removes bodies that no record needs any more. */
export async function removeBodies(bodies: BodyStore, freed: readonly PlacedBody[]): Promise<void> {
  await inParallel(freed, { limit: DELETES_AT_ONCE }, ({ key }) => bodies.delete(key))
}

/**
 * Removes expired assets, and bodies that no record needs, which interrupted saves and deletes leave. Only bodies that are
 * older than the grace period, by the body store's clock, are removed.
 *
 * @throws ByrefError `config_invalid` for bodies that belong to another index: none of them is touched
 */
export async function sweepStore(
  store: StoreParts & { owner: string },
  options: StoreSweepOptions,
): Promise<StoreSwept> {
  const { records, bodies } = store
  const { now = Date.now(), signal } = options
  const swept: StoreSwept = { assets: 0, bodies: 0, bytes: 0, leftovers: 0 }
  const count = (size: number): void => {
    swept.bodies++
    swept.bytes += size
  }
  for (;;) {
    const over = await records.expired(now, BATCH)
    for (const { namespace, assetId } of over) {
      signal?.throwIfAborted()
      const freed = await records.remove(namespace, assetId, { now, expired: true })
      if (!freed) continue
      swept.assets++
      await removeBodies(bodies, freed)
      for (const { size } of freed) count(size)
    }
    if (over.length < BATCH) break
  }
  const before = now - Date.now() + (await clockOf(bodies)) - graceOf(options.graceMs)
  await checkOwner(bodies, store.owner)
  for await (const { key, size } of unneededBodies(store, { prefix: '', before })) {
    signal?.throwIfAborted()
    await bodies.delete(key)
    swept.leftovers++
    count(size)
  }
  signal?.throwIfAborted()
  // Some servers cannot list uploads, and some keys may not.
  await bodies.removeUnfinished?.(before).catch((error: unknown) => {
    if (!(error instanceof ByrefError)) throw error
    warn(`Parts of interrupted uploads were not removed: ${error.message}`, error)
  })
  return swept
}

/** Bodies that no record needs, put before a time. */
export async function* unneededBodies(
  { records, bodies }: StoreParts,
  { prefix, before }: { prefix: string; before: number },
): AsyncGenerator<ListedBody> {
  for await (const batch of inBatches(bodies.list(prefix), BATCH)) {
    const old = batch.filter(({ key, putAt }) => putAt <= before && !isOfStore(key))
    const held = await records.held(old.map(({ key }) => key))
    for (const body of old) if (!held.has(body.key)) yield body
  }
}

/** Returns the time of the body store; the local time if the store cannot tell. */
export async function clockOf(bodies: BodyStore): Promise<number> {
  const key = `${CLOCK}${newId()}`
  try {
    await bodies.put(key, new Uint8Array(), { mime: 'application/octet-stream' })
    for await (const body of bodies.list(CLOCK)) if (body.key === key) return body.putAt
  } catch (error) {
    // A full or read-only disk is local, and so is its clock.
    if (!(error instanceof ByrefError)) throw error
  } finally {
    await bodies.delete(key).catch(() => {})
  }
  return Date.now()
}

/** Rejects bodies of another index: a new or restored index does not know them, so they are not leftovers. */
async function checkOwner(bodies: BodyStore, owner: string): Promise<void> {
  const owners = await Array.fromAsync(bodies.list(OWNER), ({ key }) => key.split('/')[1])
  if (owners.includes(owner)) return
  if (owners.length === 0) {
    // Two processes may do this at once, each under its own key.
    const key = `${OWNER}${owner}/${newId()}`
    await bodies.put(key, new Uint8Array(), { mime: 'application/octet-stream' })
    return
  }
  throw new ByrefError(
    'config_invalid',
    `These bodies (${bodies.name}) belong to another index of records, so nothing unknown among them is swept. Use that index; or, if it is lost, restore it (rebuildRecords) or remove the bodies below "${OWNER}".`,
  )
}

/** Removes the owner of the bodies. The next index that sweeps becomes their owner. */
export async function disownBodies(bodies: BodyStore): Promise<void> {
  for await (const { key } of bodies.list(OWNER)) await bodies.delete(key)
}

const DAY = 24 * 60 * 60 * 1000

/** Leftovers of a writer that may still be running are kept for at least a day, because uploads can be slow. */
export function graceOf(graceMs: number = DAY): number {
  return Math.max(graceMs, DAY)
}
