import { main } from './cli/main.ts'

/** Commands that go on when nobody reads stdout: services, and `run`, which cancels its run first. */
const WITHOUT_READER: readonly (string | undefined)[] = ['serve', 'work', 'run']

// The reader of a pipe may close it (`byref … | head`). A service goes on without a reader.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  const isClosed = error.code === 'EPIPE'
  if (!isClosed || !WITHOUT_READER.includes(process.argv[2])) process.exit(isClosed ? 0 : 1)
})
// Lines that cannot be written to stderr are dropped.
process.stderr.on('error', () => {})

process.exitCode = await main(process.argv.slice(2))
