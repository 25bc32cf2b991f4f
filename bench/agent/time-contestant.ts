// Times one contestant in this process: node bench/agent/time-contestant.ts <name> <steps> <seconds> <maximum
// seconds>, started by steps.ts
import { type Contestant, work } from './contestants/contestant.ts'
import { contestants } from './contestants/contestants.ts'
import { answerParent, cpuTime, ownFolder } from './in-child.ts'

/** CPU time and wall time per answer of the model in microseconds, one value for each batch of runs. */
export interface Timing {
  cpu: number[]
  wall: number[]
  /** Set if the first run did not end in time: the time of its steps until then. Later steps would take longer. */
  partial?: true
}

/** Minimum number of steps in a batch of runs, so that garbage collection is spread over enough steps. */
const BATCH_STEPS = 200

const [name = '', steps = '', seconds = '', mostSeconds = ''] = process.argv.slice(2)
const contestant = await contestants[name]?.open(ownFolder())
if (!contestant) throw new Error(`There is no contestant "${name}"`)
const timing = await timed(contestant, Number(steps), Number(seconds) * 1000)
await contestant.close?.()
answerParent(timing)

/** The first half of the time is a warm-up. If the first batch takes longer than all the time, it counts. */
async function timed(one: Contestant, count: number, ms: number): Promise<Timing> {
  const [start, cpuStart] = [performance.now(), cpuTime()]
  work.onCall = () => {
    const wall = performance.now() - start
    if (wall < Number(mostSeconds) * 1000) return
    work.onCall = () => {}
    const [cpuEach, wallEach] = [(cpuTime() - cpuStart) / work.calls, (wall * 1000) / work.calls]
    answerParent({ cpu: [cpuEach], wall: [wallEach], partial: true } satisfies Timing)
  }
  const runs = Math.max(1, Math.round(BATCH_STEPS / count))
  const answers = runs * (count + 1)
  const all: Timing = { cpu: [], wall: [] }
  let warm = 0
  do {
    const [cpuBefore, before] = [cpuTime(), performance.now()]
    await runAll(one, count, runs)
    all.cpu.push((cpuTime() - cpuBefore) / answers)
    all.wall.push(((performance.now() - before) * 1000) / answers)
    if (performance.now() - start < ms / 2) warm++
  } while (performance.now() - start < ms)
  return { cpu: all.cpu.slice(warm), wall: all.wall.slice(warm) }
}

async function runAll(one: Contestant, count: number, runs: number): Promise<void> {
  for (let run = 0; run < runs; run++) {
    work.calls = 0
    await one.run(count)
    if (work.calls !== count) throw new Error(`${work.calls} calls instead of ${count}`)
  }
}
