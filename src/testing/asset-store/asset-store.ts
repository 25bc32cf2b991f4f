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

/** What the tests can do to a store behind its back. */
export interface AssetStoreMedium {
  /**
   * Takes away every body that the store made by `create` keeps, and leaves its records. With it the tests can see that
   * what needs no body reads none.
   */
  loseBodies(store: AssetStore): unknown
}

/**
 * The contract of {@link AssetStore} as tests: every store passes them, also one of three methods. What a store without
 * records of its own cannot do it refuses with `asset_unsupported`, and that passes too; a full store can do all of it.
 *
 * @param create Gives a new, empty store; called once a test.
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
