import { writeFile } from 'node:fs/promises'
import { basename, extname } from 'node:path'
import type { Agent } from '../agent/agent-contract.ts'
import { essenceOf, extensionOf, mimeTypeOfName } from '../assets/bodies/mime-type.ts'
import { ByrefError } from '../core/errors.ts'
import type { AssetCreated, ConversationEvent } from '../core/events/events.ts'
import { inBackground } from '../core/in-background.ts'
import { shortened } from '../core/json/cut.ts'
import type { Message } from '../core/messages/message.ts'
import { readMetadata } from '../core/messages/read-metadata.ts'
import { Approvals, askAtTerminal } from './approvals.ts'
import { fileSize, importFromDisk } from './import-from-disk.ts'
import { describeModel, openAgent } from './open-agent.ts'
import { onFirst } from './stop-signal.ts'
import { STORAGE, STORAGE_HELP } from './storage.ts'
import { checkWritable, note, parseOptions, shown, UsageError } from './terminal.ts'

/** What `byref run --help` prints. */
export const HELP = `byref run: one question, answered in the terminal

  byref run "chart the monthly precipitation" --file seattle-weather.csv --out chart.png

  --file           a file to attach; may be repeated. CSV, TSV, JSON, NDJSON, Parquet, Arrow and XLSX
                   become tables
  --out            save the last image of the run; the name must end in .png, .jpg, .webp, .gif or .svg.
                   An image of another type gets its own extension, and the status is 1
  --conversation   continue this conversation; each run prints its id
${STORAGE_HELP}
  --yes            approve every call that waits for approval
  --json           print every event as a line of JSON instead

The answer goes to stdout. Calls, references, progress and questions about approvals go to stderr.
If stdin is not a terminal, calls that need approval are denied. Ctrl-C cancels the run. So
does a reader that closes stdout (byref run … | head): the status is then 141. The environment
chooses the model, as for byref serve (see byref serve --help).
`

/** The status of a process that SIGPIPE ends. */
const BROKEN_PIPE = 141

const IMAGE_FILES = ['.png', '.jpg', '.jpeg', '.webp', '.gif', '.svg']

/** `byref run`: attaches files, asks, and streams the answer. */
export async function command(args: string[]): Promise<number> {
  const { values, positionals } = parseOptions('run', args, {
    options: {
      file: { type: 'string', multiple: true, default: [] },
      out: { type: 'string' },
      conversation: { type: 'string' },
      ...STORAGE,
      yes: { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
    },
  })
  const [question, extra] = positionals
  if (!question)
    throw new UsageError('byref run needs a question: byref run "…" (byref run --help)')
  if (extra !== undefined) {
    throw new UsageError(
      `byref run takes one question: put it in quotes (unexpected argument "${extra}")`,
    )
  }
  if (values.out !== undefined) {
    if (!IMAGE_FILES.includes(extname(values.out).toLowerCase())) {
      throw new UsageError(
        `--out saves an image: its name must end in .png, .jpg, .webp, .gif or .svg, not "${values.out}"`,
      )
    }
    await checkWritable(values.out)
  }
  for (const file of values.file) await fileSize(file)
  const { agent, queue, close } = await openAgent(values)
  try {
    if (values.conversation && !(await agent.log.find(values.conversation))) {
      throw new ByrefError(
        'conversation_not_found',
        `There is no conversation "${values.conversation}" in ${values.database ? 'the database' : values.data}`,
      )
    }
    note(`model ${describeModel(agent.model)}`)
    const attachments = []
    for (const file of values.file) attachments.push(await attach(agent, file))
    const run = await agent.start({
      conversation: values.conversation,
      messages: [{ role: 'user', content: question, metadata: { attachments } }],
    })
    // This process runs it, unless a worker has taken it first.
    const advance = (): void => {
      if (queue) inBackground('Continuing the run', agent.advance(run.conversation))
    }
    advance()
    // The command waits for the end of the run. A second Ctrl-C ends the process at once.
    onFirst(['SIGINT'], run.cancel)
    // Nobody reads the answer (`byref run … | head`).
    let hasReader = true
    const onClosed = (): void => {
      hasReader = false
      run.cancel()
    }
    process.stdout.on('error', onClosed)
    note(`conversation ${run.conversation}`)
    const ask = process.stdin.isTTY ? askAtTerminal : null
    const approvals = new Approvals({ agent, run, yes: values.yes, ask, note })
    const print = values.json ? printJson : printer()
    const pictures: AssetCreated[] = []
    try {
      for await (const event of run) {
        print(event)
        if (event.type === 'ASSET_CREATED' && event.payload.kind === 'image') {
          pictures.push(event.payload)
        }
        approvals.onEvent(event)
        if (event.type === 'APPROVAL_ANSWERED') advance()
      }
    } finally {
      approvals.close()
      process.stdout.off('error', onClosed)
    }
    const { reason } = await run.result
    if (!hasReader) return BROKEN_PIPE
    if (reason !== 'done') note(`ended: ${reason.replace('_', ' ')}`)
    const isSaved = values.out ? await savePicture(agent, pictures, values.out) : true
    return reason === 'done' && isSaved ? 0 : 1
  } finally {
    await close()
  }
}

async function attach(agent: Agent, file: string): Promise<{ assetRef: string }> {
  const { asset, table, workbook } = await importFromDisk(agent.assets, file)
  const kind = workbook ? 'workbook' : table ? 'table' : asset.kind
  const { ref } = workbook ?? table ?? asset
  note(`${basename(file)} → ${ref} (${kind}, ${asset.size.toLocaleString('en')} bytes)`)
  return { assetRef: ref }
}

/** Returns a function that streams text to stdout, and writes everything else to stderr. */
function printer(): (event: ConversationEvent) => void {
  let atLineStart = true
  const write = (text: string): void => {
    process.stdout.write(process.stdout.isTTY ? shown(text) : text)
    atLineStart = text.endsWith('\n')
  }
  return (event) => {
    if (event.type === 'TEXT_MESSAGE_CONTENT') return write(event.delta)
    if (!atLineStart) write('\n')
    const line = lineOf(event)
    if (line !== null) note(line)
  }
}

/** Returns the line about an event for the person; null if there is none. */
function lineOf(event: ConversationEvent): string | null {
  switch (event.type) {
    case 'TOOL_CALL_END':
      return `→ ${event.call.name} ${JSON.stringify(event.call.arguments)}`
    case 'TOOL_PROGRESS':
      return `  … ${event.payload.message}`
    case 'MODEL_RETRY': {
      const seconds = Math.ceil(event.waitMs / 1000)
      return `  … ${event.reason}. Asking again in ${seconds} s (attempt ${event.attempt} failed)`
    }
    case 'ASSET_CREATED': {
      const { ref, mime, size } = event.payload
      return `  + ${ref} (${mime}, ${size ?? 0} bytes)`
    }
    case 'NEW_MESSAGE':
      return messageLine(event.payload)
    default:
      return null
  }
}

function messageLine(message: Message): string | null {
  const { content_type, content } = message
  const { result } = readMetadata(message)
  if (result?.error) return `← ${result.error.code}: ${result.error.message}`
  if (result) return `← ${shortened(JSON.stringify(content), 300)}`
  return content_type === 'data' ? `  = ${shortened(JSON.stringify(content), 300)}` : null
}

function printJson(event: ConversationEvent): void {
  process.stdout.write(`${JSON.stringify(event)}\n`)
}

/**
 * Saves the last picture. If the name has the extension of another type, adds the right extension and returns false: a
 * program could not read the file otherwise, and a new run costs more than a new name.
 */
async function savePicture(agent: Agent, pictures: AssetCreated[], out: string): Promise<boolean> {
  const picture = pictures.filter(({ by }) => by === 'tool' || by === 'agent').at(-1)
  if (!picture) {
    throw new ByrefError('asset_not_found', `The run made no image to save as ${out}`)
  }
  const { bytes } = await agent.assets.get(picture.ref)
  const { mime } = picture
  const isRight = (await mimeTypeOfName(out)) === essenceOf(mime)
  const file = isRight ? out : `${out}.${await extensionOf(mime)}`
  await writeFile(file, bytes)
  const saved = `saved ${file} (${mime}, ${bytes.length.toLocaleString('en')} bytes)`
  note(isRight ? saved : `the image is ${mime}, not a ${extname(out)}: ${saved}`)
  return isRight
}
