import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { LeaseHeldError } from '../../log/conversation-log.ts'
import type { Check } from './check.ts'
import { rejects, summary } from './check.ts'
import { chat, contentOf } from './events.ts'

const LONG = 60_000

/** Leases: which process runs a conversation. */
export function testLeases(check: Check): void {
  check('gives the lease to whoever appends with it', async (log) => {
    await log.append('c', [chat('x')])
    assert.equal((await summary(log, 'c')).lease, null)
    await log.append('c', [chat('y')], { lease: { owner: 'a', ms: LONG } })
    const { lease } = await summary(log, 'c')
    assert.equal(lease?.owner, 'a')
    assert.ok(lease && lease.expiresIn > LONG / 2 && lease.expiresIn <= LONG)
    assert.deepEqual((await log.list()).conversations[0]?.lease?.owner, 'a')
    await log.append('c', [], { lease: { owner: 'a', ms: 2 * LONG } })
    assert.ok(((await summary(log, 'c')).lease?.expiresIn ?? 0) > LONG)
  })

  check('refuses others while it lasts, who need no lease may append', async (log) => {
    await log.append('c', [chat('x')], { lease: { owner: 'a', ms: LONG } })
    const debug = { m: 1 }
    const error = await rejects(
      log.append('c', [chat('y')], { lease: { owner: 'b', ms: LONG }, debug }),
      'lease_held',
    )
    assert.ok(error instanceof LeaseHeldError)
    assert.equal(error.owner, 'a')
    assert.ok(error.expiresIn > 0 && error.expiresIn <= LONG)
    await rejects(log.append('c', [], { lease: { owner: 'b', ms: 0 } }), 'lease_held')
    assert.equal(await log.debug('c', 'm'), null)
    await log.append('c', [chat('z')])
    assert.deepEqual((await log.read('c')).map(contentOf), ['x', 'z'])
    assert.equal((await summary(log, 'c')).lease?.owner, 'a')
  })

  check('is free for others when it has run out, and told so', async (log) => {
    await log.append('c', [chat('x')], { lease: { owner: 'a', ms: 20 } })
    await sleep(40)
    const { lease } = await summary(log, 'c')
    assert.equal(lease?.owner, 'a')
    assert.ok(lease && lease.expiresIn <= 0)
    await log.append('c', [chat('y')], { lease: { owner: 'b', ms: LONG } })
    assert.equal((await summary(log, 'c')).lease?.owner, 'b')
    assert.equal(await log.renew('c', { owner: 'a', ms: LONG }), false)
  })

  check("is nobody's after an append with 0 ms", async (log) => {
    const lease = { owner: 'a', ms: LONG }
    await log.append('c', [chat('x')], { lease })
    await log.append('c', [chat('y')], { lease: { owner: 'a', ms: 0 } })
    assert.equal((await summary(log, 'c')).lease, null)
    await log.append('c', [chat('z')], { lease: { owner: 'b', ms: LONG } })
  })

  check("renews its owner's, also one that has run out, and no other's", async (log) => {
    assert.equal(await log.renew('c', { owner: 'a', ms: LONG }), false)
    assert.equal(await log.find('c'), null)
    await log.append('c', [chat('x')], { lease: { owner: 'a', ms: 20 } })
    const { updatedAt } = await summary(log, 'c')
    await sleep(40)
    assert.equal(await log.renew('c', { owner: 'b', ms: LONG }), false)
    assert.equal(await log.renew('c', { owner: 'a', ms: LONG }), true)
    const renewed = await summary(log, 'c')
    assert.ok((renewed.lease?.expiresIn ?? 0) > 0)
    assert.equal(renewed.updatedAt, updatedAt)
    assert.equal((await log.read('c')).length, 1)
    assert.equal(await log.renew('c', { owner: 'a', ms: 0 }), true)
    assert.equal((await summary(log, 'c')).lease, null)
    assert.equal(await log.renew('c', { owner: 'a', ms: LONG }), false)
  })

  check('gives a lease for a part of a millisecond', async (log) => {
    await log.append('c', [chat('x')], { lease: { owner: 'a', ms: LONG + 0.5 } })
    assert.equal(await log.renew('c', { owner: 'a', ms: LONG + 0.25 }), true)
    assert.ok(((await summary(log, 'c')).lease?.expiresIn ?? 0) > 0)
  })

  check('refuses a lease that is none', async (log) => {
    for (const lease of [
      { owner: 'a', ms: -1 },
      { owner: 'a', ms: Number.NaN },
      { owner: '', ms: 1 },
    ]) {
      await rejects(log.append('c', [chat('x')], { lease }), 'bad_request')
      await rejects(log.renew('c', lease), 'bad_request')
    }
    assert.equal(await log.find('c'), null)
  })
}
