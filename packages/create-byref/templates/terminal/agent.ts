// An agent in the terminal: it streams its answers, and keeps conversations in .data.
import { mkdirSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { parseArgs } from 'node:util'
import { createAgent, newId, type Run } from 'byref'
import { createSqliteLog } from 'byref/sqlite'
import { model } from './model.ts'
import { openFile, summarize } from './tools.ts'

const { values, positionals } = parseArgs({
  options: { resume: { type: 'boolean', default: false } },
  allowPositionals: true,
})

mkdirSync('.data', { recursive: true })
const log = createSqliteLog('.data/conversations.sqlite')
const agent = createAgent({
  model,
  instructions: 'You answer questions about files. Open a file before you talk about it.',
  tools: [openFile, summarize],
  log,
  assets: { config: { backend: 'fs', fs: { rootDir: '.data/assets' } } },
})

const conversation = values.resume ? await lastConversation() : newId()
const question = positionals.join(' ')
if (question) await ask(question)
else await chat()
await agent.close()
await log.close()

/** The last conversation. A run in it that a crash interrupted ends first. */
async function lastConversation(): Promise<string> {
  const [last] = (await log.list({ limit: 1 })).conversations
  if (!last) throw new Error('There is no conversation to resume')
  console.error(`Resuming "${last.title}"`)
  await agent.resumeAll()
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
async function print(run: Run): Promise<void> {
  for await (const event of run) {
    if (event.type === 'TEXT_MESSAGE_CONTENT') process.stdout.write(event.delta)
    if (event.type === 'TEXT_MESSAGE_END') process.stdout.write('\n')
    if (event.type === 'TOOL_CALL_END')
      console.error(`→ ${event.call.name} ${JSON.stringify(event.call.arguments)}`)
    if (event.type === 'ASSET_CREATED')
      console.error(`+ ${event.payload.ref} (${event.payload.size} bytes)`)
  }
  await run.result.catch((error: unknown) => console.error(`The run failed: ${error}`))
}
