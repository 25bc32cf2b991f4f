import { describe, expect, it } from 'vitest'
import { createQuota } from './quota.ts'

const full = expect.objectContaining({ code: 'quota_exceeded' })

describe('createQuota', () => {
  it('gives back what a save takes after it has ended', async () => {
    const answer = Promise.withResolvers<void>()
    let asked = 0
    const quota = createQuota({ quotaBytes: 100, quotaAssets: 10 }, async () => {
      // The second question finds no room; its answer brings some.
      if (++asked === 2) await answer.promise
      return { assets: asked === 1 ? 1 : 0, bytes: asked === 1 ? 60 : 0 }
    })
    const save = await quota.reserve(null, 30)
    const growing = save.growTo(90)
    save.end(false)
    answer.resolve()
    await growing
    await (await quota.reserve(null, 100)).growTo(100)
    await expect(quota.reserve(null, 1)).rejects.toEqual(full)
  })

  it('keeps namespaces apart, and asks again when something was removed', async () => {
    let bytes = 80
    const quota = createQuota({ quotaBytes: 100, quotaAssets: Infinity }, async (namespace) => ({
      assets: 1,
      bytes: namespace === 'a' ? bytes : 0,
    }))
    await quota.reserve('b', 100)
    await expect(quota.reserve('a', 30)).rejects.toEqual(full)
    bytes = 0
    quota.forget('a')
    const save = await quota.reserve('a', 30)
    save.end(true)
    await expect(quota.reserve('a', 101)).rejects.toEqual(full)
    await expect(quota.reserve('b', 1)).rejects.toEqual(full)
  })
})
