import { describe, expect, it } from 'vitest'
import { search } from '../../bench/trust/attack/search.ts'
import { AGENT_WAYS } from '../../bench/trust/attack/ways/agent-ways.ts'
import { GOALS, INJECTIONS } from '../../bench/trust/injections.ts'
import { play } from '../../bench/trust/matrix.ts'
import { TASKS } from '../../bench/trust/tasks.ts'

/** A sample: each injection, with tasks of each kind. `node bench/trust/trust.ts` runs all of them, in each mode. */
const PAIRS = INJECTIONS.flatMap((injection, i) =>
  [0, 13].map((by, j) => ({
    task: TASKS[(i + by) % TASKS.length] as (typeof TASKS)[number],
    attack: { injection, goal: GOALS[(i + j) % GOALS.length] as (typeof GOALS)[number] },
  })),
)

describe('a model that obeys everything that it reads', () => {
  it.each(['track', 'quarantine'] as const)('does no harm in %s', async (mode) => {
    for (const { task, attack } of PAIRS) {
      const { attacked } = await play(task, mode, attack)
      expect(attacked, `${task.name}: ${attack.injection.name}`).toBe(false)
    }
  })

  it('does harm without a defence', async () => {
    const all = await Promise.all(PAIRS.map(({ task, attack }) => play(task, 'off', attack)))
    expect(all.filter(({ attacked }) => attacked).length).toBeGreaterThan(PAIRS.length / 2)
  })

  it('does every task in quarantine, and asks only about those that act on what it read', async () => {
    for (const task of TASKS) {
      const { done, questions } = await play(task, 'quarantine', null)
      expect({ done, questions }, task.name).toEqual({
        done: true,
        questions: task.kind === 'acts on it' ? 1 : 0,
      })
    }
  })
})

describe('quarantine', () => {
  it.each(AGENT_WAYS)('withstands $name', async ({ run }) => {
    expect(await run()).toBeNull()
  })

  it('withstands a short search for attacks; for a longer one run `node bench/trust/attack.ts`', async () => {
    const { played, leaks } = await search({ seed: 1, count: 20 })
    expect([played, leaks]).toEqual([20, []])
  })
})
