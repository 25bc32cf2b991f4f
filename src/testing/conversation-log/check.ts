import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { ByrefError } from '../../core/errors.ts'
import type { ConversationLog, ConversationSummary } from '../../log/conversation-log.ts'

/** Adds a test of the contract. */
export type Check = (name: string, run: (log: ConversationLog) => Promise<void>) => void

/** Checks that something fails with a code, and returns the error. */
export async function rejects(promise: Promise<unknown>, code: string): Promise<ByrefError> {
  try {
    await promise
  } catch (error) {
    assert.ok(error instanceof ByrefError, `a ByrefError, not ${error}`)
    assert.equal(error.code, code)
    return error
  }
  assert.fail(`it should have failed with ${code}`)
}

/** Returns the summary of an existing conversation. */
export async function summary(log: ConversationLog, id: string): Promise<ConversationSummary> {
  const found = await log.find(id)
  assert.ok(found, `there is a conversation ${id}`)
  return found
}

/** Waits until the clock of the log advances, so that the next change has a later time. */
export async function later(): Promise<void> {
  await sleep(5)
}

/**
 * Maximum delay of a notification, in milliseconds. Other processes take up to a second, and longer on a busy
 * machine.
 */
const PATIENCE = 30_000

/** Waits until a condition holds. */
export async function soon(isSo: () => boolean): Promise<void> {
  const end = Date.now() + PATIENCE
  while (!isSo() && Date.now() < end) await sleep(10)
  assert.ok(isSo(), 'it is noticed')
}
