import { createWorker } from '../hosts/worker.ts'
import { describeModel, openAgent } from './open-agent.ts'
import { stopSignal } from './stop-signal.ts'
import { STORAGE, STORAGE_HELP } from './storage.ts'
import { parseOptions, UsageError, wholeNumber } from './terminal.ts'

/** What `byref work --help` prints. */
export const HELP = `byref work: runs the conversations of any number of servers

  byref work --database postgresql://… [--bucket NAME] [--concurrency 50]

${STORAGE_HELP}
  --concurrency    conversations that this process runs at once; most wait for a model. Default 50

You can start any number of workers, and stop each at any time. After Ctrl-C or SIGTERM, running
steps have ten seconds to end, and other workers continue the rest at once. They continue the
conversations of a killed worker within twelve seconds. The environment chooses the model, as for
byref serve (see byref serve --help).
`

/** Default of `--concurrency`. */
export const CONCURRENCY = '50'

/** Maximum of `--concurrency`. */
export const MAX_CONCURRENCY = 9999

/** `byref work`: works until it is stopped. */
export async function command(args: string[]): Promise<number> {
  const { values } = parseOptions('work', args, {
    most: 0,
    options: { ...STORAGE, concurrency: { type: 'string', default: CONCURRENCY } },
  })
  const range = { least: 1, most: MAX_CONCURRENCY }
  const concurrency = wholeNumber('--concurrency of byref work', values.concurrency, range)
  const needsDatabase = 'byref work needs --database: on one machine byref serve does the work'
  if (!values.database) throw new UsageError(needsDatabase)
  const stop = stopSignal()
  const { agent, queue, close } = await openAgent(values)
  try {
    if (!queue) throw new UsageError(needsDatabase)
    const worker = createWorker({ agent, queue, concurrency })
    await worker.start()
    process.stdout.write(
      `byref   working, up to ${concurrency} conversations at once\nmodel   ${describeModel(agent.model)}\n`,
    )
    await stop
    await worker.stop()
  } finally {
    await close()
  }
  return 0
}
