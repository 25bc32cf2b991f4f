import { createWorker } from '../hosts/worker.ts'
import { describeModel } from './describe-model.ts'
import { openAgent } from './open-agent.ts'
import { parseOptions } from './parse-options.ts'
import { stopSignal } from './stop-signal.ts'
import { STORAGE, STORAGE_HELP } from './storage.ts'
import { UsageError } from './usage-error.ts'

/** What `byref work --help` prints. */
export const HELP = `byref work: advances the conversations of any number of servers

  byref work --database postgresql://… [--bucket NAME] [--concurrency 50]

${STORAGE_HELP}
  --concurrency    conversations that this process advances at once; most of them wait for a model. Default 50

Any number of them may run, and each may end at any time: Ctrl-C or SIGTERM lets the steps that go on end, for up to ten
seconds, and others go on with the rest at once; with those of a process that was killed, within twelve seconds. The
model is chosen by the environment as for byref serve (see byref serve --help).
`

/** How many at once, unless told otherwise. */
export const CONCURRENCY = '50'

/** `byref work`: works until it is told to stop. */
export async function command(args: string[]): Promise<number> {
  const { values, positionals } = parseOptions('work', args, {
    ...STORAGE,
    concurrency: { type: 'string', default: CONCURRENCY },
  })
  if (positionals.length > 0) throw new UsageError(`byref work takes no "${positionals[0]}"`)
  if (!values.database) {
    throw new UsageError(
      'byref work needs --database: on one machine byref serve does the work itself',
    )
  }
  const concurrency = readConcurrency(values.concurrency)
  if (concurrency === 0) throw new UsageError('--concurrency of byref work is 1 or more')
  const stop = stopSignal()
  const { agent, queue, close } = await openAgent(values)
  try {
    if (!queue) throw new UsageError('byref work needs --database')
    const worker = createWorker({ agent, queue, concurrency })
    await worker.start()
    process.stdout.write(
      `byref   works, ${concurrency} at once\nmodel   ${describeModel(agent.model)}\n`,
    )
    await stop
    await worker.stop()
  } finally {
    await close()
  }
  return 0
}

/** @throws UsageError for what is no number of conversations */
export function readConcurrency(text: string): number {
  if (/^\d{1,4}$/.test(text)) return Number(text)
  throw new UsageError(`--concurrency takes a number from 0 to 9999, not "${text}"`)
}
