// An agent in the terminal: it streams its answers, and keeps conversations in .data.
import { createInterface } from 'node:readline'
import { parseArgs } from 'node:util'
import { createAgent, newId, type Run } from 'byref'
import { createSqliteLog } from 'byref/sqlite'
import { model } from './model.ts'
import { tools } from './tools.ts'

const { values, positionals } = parse()
if (values.help) {
  console.log(
    'npm start -- [--resume] [question]. Without a question, it answers each line of stdin.',
  )
  process.exit()
}

const log = createSqliteLog('.data/conversations.sqlite')
const agent = createAgent({
  model,
  instructions: 'You answer questions about files. Open a file before you talk about it.',
  tools,
  log,
  assets: { config: { backend: 'fs', fs: { rootDir: '.data/assets' } } },
})

const conversation = values.resume ? await resume() : newId()
const question = positionals.join(' ')
if (question) await ask(question)
else await chat()
await agent.close()
await log.close()

function parse() {
  try {
    return parseArgs({
      options: {
        resume: { type: 'boolean', default: false },
        help: { type: 'boolean', short: 'h', default: false },
      },
      allowPositionals: true,
    })
  } catch (error) {
    fail(`${error instanceof Error ? error.message : error} (npm start -- --help)`)
  }
}

function fail(message: string): never {
  console.error(message)
  process.exit(2)
}

/** Returns the last conversation. If a crash interrupted a run in it, this run goes on first. */
async function resume(): Promise<string> {
  const [last] = (await log.list({ limit: 1 })).conversations
  if (!last) fail('There is no conversation to resume: start one with npm start')
  console.error(`Resuming "${last.title}"`)
  if (last.lease && last.lease.expiresIn > 0) {
    console.error(
      'Another process has this conversation. Waiting until it has answered, or up to ten seconds if it has crashed …',
    )
  }
  if (last.openRun || last.queued > 0) await print(agent.resume(last.id))
  return last.id
}

/** Answers each line of stdin, typed or piped. */
async function chat(): Promise<void> {
  process.stderr.write('> ')
  for await (const line of createInterface({ input: process.stdin })) {
    if (line.trim()) await ask(line)
    process.stderr.write('> ')
  }
}

async function ask(content: string): Promise<void> {
  await print(agent.run({ conversation, messages: [{ role: 'user', content }] }))
}

/** The answer goes to stdout, calls and new references to stderr. */
async function print(run: Run<unknown>): Promise<void> {
  let isStreamed = false
  for await (const event of run) {
    if (event.type === 'TEXT_MESSAGE_CONTENT') {
      isStreamed = true
      process.stdout.write(event.delta)
    }
    if (event.type === 'TEXT_MESSAGE_END') process.stdout.write('\n')
    if (event.type === 'TOOL_CALL_END')
      console.error(`→ ${event.call.name} ${JSON.stringify(event.call.arguments)}`)
    if (event.type === 'ASSET_CREATED')
      console.error(`+ ${event.payload.ref} (${event.payload.size} bytes)`)
  }
  try {
    const { text } = await run.result
    // Another process that answers does not stream to this one.
    if (!isStreamed) console.log(text)
  } catch (error) {
    console.error(`The run failed: ${error}`)
  }
}
