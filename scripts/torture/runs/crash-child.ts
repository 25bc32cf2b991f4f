// node crash-child.ts <folder> <point>: plays the scenario, and kills itself at its point of this number.
// node crash-child.ts <folder> on <name>: plays it again and again, and what is left of others, until it is killed.
import { writeSync } from 'node:fs'
import { openDiskWorld } from './disk-world.ts'
import { createLife } from './life.ts'
import { play, scenarioAgent } from './play.ts'
import { CONVERSATION } from './scenario.ts'

const [folder = '', point = '', name = ''] = process.argv.slice(2)
const world = openDiskWorld(folder)

async function once(): Promise<void> {
  const life = createLife(Number(point), () => process.kill(process.pid, 'SIGKILL'))
  await play(scenarioAgent(world, life), world, CONVERSATION)
}

async function onAndOn(): Promise<void> {
  const agent = scenarioAgent(world)
  const { conversations } = await world.log.list({ due: true, limit: 1000 })
  writeSync(1, 'ready\n')
  const left = conversations.map(({ id }) => play(agent, world, id))
  for (let i = 0; ; i++) await play(agent, world, `${name} ${i}`).then(() => Promise.all(left))
}

await (point === 'on' ? onAndOn() : once())
process.exit()
