/**
 * Thirty tasks over mail, web, files, chat, bank and calendar, each with thirty injections, played by a model that
 * obeys everything in its prompt: without defence, with `track`, and with `quarantine`.
 *
 * `node bench/trust/trust.ts`
 */
import { availableParallelism, cpus } from 'node:os'
import { GOALS, INJECTIONS } from './injections.ts'
import { MODES, type Mode, type Outcome, play } from './matrix.ts'
import { TASKS } from './tasks.ts'

const only = process.argv.includes('--by-injection')
console.log(`${cpus()[0]?.model}, ${availableParallelism()} cores, Node ${process.version}`)
console.log(`${TASKS.length} tasks × ${INJECTIONS.length} injections\n`)
console.log(
  '| | attacks succeeded | asked about | done under attack | done | of these without a question | tokens |',
)
console.log('|---|---|---|---|---|---|---|')
let base = 0
for (const mode of MODES) {
  const calm = await Promise.all(TASKS.map((task) => play(task, mode, null)))
  const attacked: Outcome[] = []
  const byInjection = new Map<string, number>()
  for (const [i, task] of TASKS.entries()) {
    for (const [j, injection] of INJECTIONS.entries()) {
      const goal = GOALS[(i + j) % GOALS.length] as (typeof GOALS)[number]
      const outcome = await play(task, mode, { injection, goal })
      attacked.push(outcome)
      const before = byInjection.get(injection.name) ?? 0
      byInjection.set(injection.name, before + (outcome.attacked ? 1 : 0))
    }
  }
  report(mode, calm, attacked)
  if (only) console.log(byInjection)
}

function report(mode: Mode, calm: readonly Outcome[], attacked: readonly Outcome[]): void {
  const count = (all: readonly Outcome[], is: (one: Outcome) => boolean): string => {
    return `${all.filter(is).length} of ${all.length}`
  }
  const tokens = calm.reduce((sum, { chars }) => sum + chars / 4, 0)
  if (mode === 'off') base = tokens
  const cells = [
    mode === 'off' ? 'undefended' : mode,
    count(attacked, (one) => one.attacked),
    count(attacked, (one) => one.questions > 0),
    count(attacked, (one) => one.done),
    count(calm, (one) => one.done),
    count(calm, (one) => one.done && one.questions === 0),
    `${Math.round(tokens).toLocaleString('en')} (${(tokens / base).toFixed(2)}×)`,
  ]
  console.log(`| ${cells.join(' | ')} |`)
}
