// node crash-child.ts <folder> <point>: plays the scenario, and kills itself at the point with this number. node
// crash-child.ts <folder> on <name> <moment>: plays it again and again, and continues what others left, until it is
// killed. Prints a line when it is ready, or when its first message is accepted.
import { writeSync } from 'node:fs'
import { referencedInLog } from '../../../src/agent/referenced-in-log.ts'
import { openDiskWorld } from './disk-world.ts'
import { createLife } from './life.ts'
import { play, scenarioAgent, type World } from './play.ts'
import { CONVERSATION } from './scenario.ts'

const [folder = '', point = '', name = '', moment = 'ready'] = process.argv.slice(2)
const world = openDiskWorld(folder)

function reached(which: string): void {
  if (which === moment) writeSync(1, `${moment}\n`)
}

async function once(): Promise<void> {
  const life = createLife(Number(point), () => process.kill(process.pid, 'SIGKILL'))
  await play(scenarioAgent(world, life), world, CONVERSATION)
}

async function onAndOn(): Promise<void> {
  const agent = scenarioAgent(world)
  const accepted: World['accepted'] = (conversation, id) => {
    world.accepted(conversation, id)
    reached('accepted')
  }
  const { conversations } = await world.log.list({ due: true, limit: 1000 })
  reached('ready')
  // The run of a sub-agent is continued by the call that started it.
  const own = conversations.filter(({ id }) => !id.includes('/'))
  const left = own.map(({ id }) => play(agent, world, id))
  // Sweeps must not remove anything that is needed.
  const referenced = referencedInLog(world.log)
  const sweep = (): Promise<void> => agent.assets.sweep({ referenced }).then(() => sweepLater())
  const sweepLater = (): void => void setTimeout(() => void sweep(), 20)
  sweepLater()
  for (let i = 0; ; i++)
    await play(agent, { ...world, accepted }, `${name} ${i}`).then(() => Promise.all(left))
}

await (point === 'on' ? onAndOn() : once())
process.exit()
