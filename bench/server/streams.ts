// A thousand watchers of one conversation, and the time to the first event of an answer. Run: node
// bench/server/streams.ts
import { get, Agent as HttpAgent, type IncomingMessage } from 'node:http'
import { printMachine } from '../assets/measure.ts'
import { type Child, startServer } from './child.ts'

const CLIENTS = 1000
const MESSAGES = 20
const agent = new HttpAgent({ keepAlive: false, maxSockets: Number.POSITIVE_INFINITY })

printMachine()
await manyWatchers()
await firstEvent()

async function manyWatchers(): Promise<void> {
  const server = await startServer('byref')
  const conversation = await create(server)
  // Warm-up: what the first watchers and runs load and compile does not count.
  await warmUp(server)
  const before = await server.settled()
  const seen: { at: number; times: number[] } = { at: 0, times: [] }
  const clients = await Promise.all(
    Array.from({ length: CLIENTS }, () =>
      watch(server, conversation, (text) => {
        if (text.includes('RUN_FINISHED')) seen.times.push(performance.now() - seen.at)
      }),
    ),
  )
  const full = await server.settled()
  const idle = await server.usage()
  await new Promise((resolve) => setTimeout(resolve, 5000))
  const rested = await server.usage()
  console.log(`\n${CLIENTS} clients on one conversation`)
  const each = (what: 'rss' | 'live') =>
    `${((full[what] - before[what]) / CLIENTS / 1024).toFixed(1)} kB`
  console.log(`  memory of each ${each('rss')}, of that objects and buffers ${each('live')}`)
  console.log(
    `  CPU while nothing happens ${((rested.cpuMs - idle.cpuMs) / 5).toFixed(2)} ms a second`,
  )
  const all: number[] = []
  for (let n = 0; n < MESSAGES; n++) {
    seen.times = []
    seen.at = performance.now()
    await say(server, conversation)
    while (seen.times.length < CLIENTS) await new Promise((resolve) => setTimeout(resolve, 5))
    all.push(...seen.times)
  }
  all.sort((a, b) => a - b)
  const at = (part: number) => (all[Math.floor(all.length * part)] ?? 0).toFixed(0)
  const after = await server.usage()
  console.log(
    `  a whole run reaches them after p50 ${at(0.5)}, p99 ${at(0.99)}, at most ${at(0.9999)} ms`,
  )
  console.log(
    `  CPU of the server for each run and client ${(((after.cpuMs - rested.cpuMs) * 1000) / MESSAGES / CLIENTS).toFixed(1)} µs`,
  )
  for (const client of clients) client.destroy()
  server.stop()
}

async function warmUp(server: Child): Promise<void> {
  const conversation = await create(server)
  const clients: IncomingMessage[] = []
  for (let n = 0; n < 20; n++) clients.push(await watch(server, conversation, () => {}))
  for (let n = 0; n < 5; n++) await say(server, conversation)
  await new Promise((resolve) => setTimeout(resolve, 1000))
  for (const client of clients) client.destroy()
}

async function firstEvent(): Promise<void> {
  const server = await startServer('byref')
  const conversation = await create(server)
  let arrived: () => void = () => {}
  const client = await watch(server, conversation, (text) => {
    if (text.includes('TEXT_MESSAGE_START')) arrived()
  })
  const times: number[] = []
  for (let n = 0; n < 220; n++) {
    const { promise, resolve } = Promise.withResolvers<void>()
    arrived = resolve
    const start = performance.now()
    const sent = say(server, conversation)
    await promise
    if (n >= 20) times.push(performance.now() - start)
    await sent
    await new Promise((done) => setTimeout(done, 5))
  }
  times.sort((a, b) => a - b)
  const at = (part: number) => (times[Math.floor(times.length * part)] ?? 0).toFixed(2)
  console.log(
    `\nFrom POST of a message to the first event of the answer, SQLite, instant model, ${times.length} times`,
  )
  console.log(`  p50 ${at(0.5)}, p90 ${at(0.9)}, p99 ${at(0.99)} ms`)
  client.destroy()
  server.stop()
}

async function create({ url }: Child): Promise<string> {
  const made = await fetch(`${url}/api/conversations`, { method: 'POST' })
  return ((await made.json()) as { id: string }).id
}

async function say({ url }: Child, conversation: string): Promise<void> {
  const answer = await fetch(`${url}/api/conversations/${conversation}/messages`, {
    method: 'POST',
    body: '{"content":"hi","ifBusy":"queue"}',
    headers: { 'content-type': 'application/json' },
  })
  await answer.arrayBuffer()
}

function watch(
  { url }: Child,
  conversation: string,
  onText: (text: string) => void,
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    get(`${url}/api/conversations/${conversation}/stream`, { agent }, (answer) => {
      answer.setEncoding('utf8').on('data', onText)
      answer.on('error', () => {})
      resolve(answer)
    }).on('error', reject)
  })
}
