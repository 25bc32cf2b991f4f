import { describe, expect, it } from 'vitest'
import { generatedConversation } from './fixtures/generated.ts'
import { poisonAt } from './fixtures/poison.ts'

/** For more runs: `BYREF_TRUST_RUNS=5000 npm run unit -- src/policies/trust/quarantine`. */
const RUNS = Number(process.env.BYREF_TRUST_RUNS ?? 50)
const FIRST = Number(process.env.BYREF_TRUST_SEED ?? 1)

describe('quarantine', () => {
  it(
    'shows no eight bytes of an untrusted value to a model, and acts on none without a question',
    async () => {
      let shown = 0
      for (let seed = FIRST; seed < FIRST + RUNS; seed++) {
        const { shown: prompts, unasked } = await generatedConversation(seed)
        expect(
          unasked.filter((input) => poisonAt(input) !== -1),
          `seed ${seed}`,
        ).toEqual([])
        shown += prompts.length
        const leak = prompts.find((one) => poisonAt(one) !== -1)
        const at = leak === undefined ? 0 : poisonAt(leak)
        expect(leak?.slice(Math.max(0, at - 300), at + 200), `seed ${seed}`).toBeUndefined()
      }
      expect(shown).toBeGreaterThan(RUNS * 3)
    },
    30_000 + RUNS * 2_000,
  )
})
