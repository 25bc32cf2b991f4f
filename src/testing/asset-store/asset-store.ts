import { type AssetStore, isFullStore } from '../../assets/asset-store.ts'
import { withRecords } from '../../assets/stores/with-records.ts'
import { checkOptions, is } from '../../core/check-options.ts'
import type { TestFunction } from '../conversation-log.ts'
import { testBodies, testMedium } from './bodies.ts'
import { type Check, isUnsupported } from './check.ts'
import { testAborts, testFailures } from './failures.ts'
import { testIds, testNamespaces } from './ids.ts'
import { testRecords } from './records.ts'
import { testRetention } from './retention.ts'
import { testSharing } from './sharing.ts'

/** Functions with which the tests change a store directly. */
export interface AssetStoreMedium {
  /**
   * Removes every body of a store that `create` made, and keeps its records. So the tests can check which methods
   * read no body.
   */
  loseBodies(store: AssetStore): unknown
}

/**
 * Tests for the contract of {@link AssetStore}. Every store passes them, also one with three methods. A store without
 * its own records rejects what it cannot do with `asset_unsupported`, and that passes, too. A full store can do
 * everything.
 *
 * @param create Returns a new, empty store. Called once per test.
 * @param test Your runner's `test` function.
 */
export function testAssetStore(
  create: () => AssetStore | Promise<AssetStore>,
  test: TestFunction,
  medium?: AssetStoreMedium,
): void {
  if (medium)
    checkOptions<AssetStoreMedium>('testAssetStore', medium, {
      loseBodies: is.required(is.callback()),
    })
  const check: Check = (name, run) => {
    test(name, async () => {
      const store = await create()
      if (isFullStore(store)) {
        await store.ready()
        return run(store, async () => medium?.loseBodies(store))
      }
      await run(withRecords(store), async () => medium?.loseBodies(store)).catch(
        (error: unknown) => {
          if (!isUnsupported(error)) throw error
        },
      )
    })
  }
  testBodies(check)
  testRecords(check)
  testIds(check)
  testNamespaces(check)
  testSharing(check)
  testFailures(check)
  testAborts(check)
  testRetention(check)
  if (medium) testMedium(check)
}
