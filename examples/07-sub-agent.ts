// A sub-agent: an agent is the tool of another agent. It has its own run, and sees only the data that it is given.
import { createAgent, createMemoryLog } from 'byref'
import { scriptedModel } from 'byref/testing'

const log = createMemoryLog()
const critic = createAgent({
  model: scriptedModel(['Too long: cut the second paragraph.']),
  instructions: 'You review texts for an editor.',
  log,
})
const writer = createAgent({
  model: scriptedModel([
    {
      calls: [{ id: 'c1', name: 'critic', arguments: { task: 'Review the draft in `state`' } }],
    },
    'I cut the second paragraph.',
  ]),
  tools: [critic.asTool({ id: 'critic', description: 'Reviews a text', data: ['†state'] })],
  log,
})
const run = writer.run({
  conversation: 'article',
  messages: [
    { type: 'state', state: { draft: 'Once upon a time …' } },
    { role: 'user', content: 'Have the draft reviewed, and follow the advice' },
  ],
})
console.log((await run.result).text)
for (const { event } of await log.read('article/c1')) {
  if (event.type !== 'NEW_MESSAGE') continue
  const { sender, content, metadata } = event.payload
  console.log(metadata.attribution ?? sender.participant_role, '→', JSON.stringify(content))
}
