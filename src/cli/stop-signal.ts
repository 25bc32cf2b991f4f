/** Milliseconds in which a second signal is taken for the first, come by another way: from the group, from npm, from who started this. */
const SAME_SIGNAL = 1000

type StopSignal = 'SIGINT' | 'SIGTERM' | 'SIGHUP'

/** Resolves at the first Ctrl-C or request to end; a second Ctrl-C ends the process at once. */
export function stopSignal(): Promise<void> {
  return new Promise((resolve) => {
    onFirst(['SIGINT', 'SIGTERM', 'SIGHUP'], resolve)
    // Started by `npm start`: when that is killed, there is nobody left to stop this.
    if (process.channel && process.env.BYREF_LAUNCHED) {
      process.once('disconnect', resolve)
      // Waiting for that must not keep this alive when it was stopped by a signal.
      process.channel.unref()
    }
    // By npx there is a shell in between, which dies without a word to this.
    if (process.env.npm_lifecycle_event) whenParentGone(resolve)
  })
}

/** Tells of the first of these signals; a Ctrl-C after it ends the process at once. */
export function onFirst(signals: readonly StopSignal[], tell: () => void): void {
  let first: number | undefined
  // Never taken off: between that and the next listener a second signal would end the process on the spot.
  for (const signal of signals) {
    process.on(signal, () => {
      if (first === undefined) {
        first = Date.now()
        tell()
      } else if (signal === 'SIGINT' && Date.now() - first > SAME_SIGNAL) process.exit(130)
    })
  }
}

function whenParentGone(tell: () => void): void {
  const parent = process.ppid
  const timer = setInterval(() => {
    if (process.ppid === parent) return
    clearInterval(timer)
    tell()
  }, 500)
  timer.unref()
}
