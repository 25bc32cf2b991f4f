import { checkOptions, is } from '../core/check-options.ts'
import type { ConversationLog } from '../log/conversation-log.ts'
import { testAppends } from './conversation-log/appends.ts'
import type { Check } from './conversation-log/check.ts'
import { testDebug } from './conversation-log/debug.ts'
import { testDecisions } from './conversation-log/decisions.ts'
import { testDeletions } from './conversation-log/deletions.ts'
import { testExports } from './conversation-log/exports.ts'
import { testImports } from './conversation-log/imports.ts'
import { testLeases } from './conversation-log/leases.ts'
import { testLists } from './conversation-log/lists.ts'
import { testNames } from './conversation-log/names.ts'
import { testProcesses } from './conversation-log/processes.ts'
import { testRuns } from './conversation-log/runs.ts'
import { testSearch } from './conversation-log/search.ts'
import { testStored } from './conversation-log/stored.ts'
import { testSubscriptions } from './conversation-log/subscriptions.ts'
import { testSummaries } from './conversation-log/summaries.ts'

/** The `test` or `it` of any runner: vitest, node:test, jest. */
export type TestFunction = (name: string, run: () => Promise<void>) => unknown

/** What the tests can do with the storage of a log. */
export interface ConversationLogMedium {
  /** Opens another log object on the storage of one that `create` made, like another process. */
  again?(log: ConversationLog): ConversationLog | Promise<ConversationLog>
}

/**
 * Tests for the contract of {@link ConversationLog}. Every implementation passes them.
 *
 * @param create Returns a new, empty log without a namespace. Called once per test. The log is closed after it.
 * @param test Your runner's `test` function.
 */
export function testConversationLog(
  create: () => ConversationLog | Promise<ConversationLog>,
  test: TestFunction,
  medium?: ConversationLogMedium,
): void {
  const { again } = checkOptions<ConversationLogMedium>('testConversationLog', medium, {
    again: is.callback(),
  })
  const check: Check = (name, run) => {
    test(name, async () => {
      const log = await create()
      try {
        await run(log)
      } finally {
        await log.close()
      }
    })
  }
  testAppends(check)
  testStored(check)
  testDebug(check)
  testDecisions(check)
  testLeases(check)
  testSummaries(check)
  testLists(check)
  testSearch(check)
  testDeletions(check)
  testNames(check)
  testRuns(check)
  testSubscriptions(check)
  testExports(check)
  testImports(check)
  if (!again) return
  testProcesses((name, run) =>
    check(name, async (log) => {
      const other = await again(log)
      try {
        await run(log, other)
      } finally {
        await other.close()
      }
    }),
  )
}
