/**
 * Plays thirty ordinary tasks in quarantine, with tools that declare only `readOnly` and `openWorld`, and counts
 * the questions to a person. The person approves everything, and every task must be completed. `node
 * bench/trust/ordinary.ts [--list]`
 */
import { createAgent } from '../../src/index.ts'
import { gullibleModel } from './gullible.ts'
import { ORDINARY, type OrdinaryTask } from './ordinary-tasks.ts'
import { ordinaryTools } from './ordinary-tools.ts'

/** Returns a model's answer about a value, for the schema of the answer. */
function answered(asked: string): unknown {
  if (asked.includes('"boolean"')) return true
  if (asked.includes('date-time')) return '2026-05-14T10:00:00Z'
  if (asked.includes('"integer"')) return 1
  return 'In short: it is about something, and the number is +49 30 1234567.'
}

/** The number of questions, and whether the task was completed. */
async function play(task: OrdinaryTask): Promise<{ questions: number; done: boolean }> {
  const done: string[] = []
  const agent = createAgent({
    model: gullibleModel(task.plan, answered),
    trust: 'quarantine',
    tools: ordinaryTools((id) => done.push(id)),
  })
  const run = agent.run({ messages: [{ role: 'user', content: task.asked }] })
  let questions = 0
  for await (const event of run) {
    if (event.type !== 'APPROVAL_REQUESTED') continue
    questions++
    await agent.approve(run.conversation, event.toolCallId, { approved: true })
  }
  await run.result
  await agent.close()
  return { questions, done: done.join() === task.does.join() }
}

const outcomes: { task: OrdinaryTask; questions: number; done: boolean }[] = []
for (const task of ORDINARY) outcomes.push({ task, ...(await play(task)) })
const count = (is: (one: (typeof outcomes)[number]) => boolean): string => {
  const found = outcomes.filter(is).length
  return `${found} of ${outcomes.length} (${Math.round((found / outcomes.length) * 100)} %)`
}
if (process.argv.includes('--list')) {
  for (const { task, questions, done } of outcomes)
    console.log(`${questions} ${done ? '' : 'NOT DONE '}${task.area}: ${task.asked}`)
}
console.log(`done:                   ${count(({ done }) => done)}`)
console.log(`without a question:     ${count(({ done, questions }) => done && questions === 0)}`)
console.log(`with at most one:       ${count(({ done, questions }) => done && questions <= 1)}`)
