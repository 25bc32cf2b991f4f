/**
 * A second signal within this time, in milliseconds, counts as the first one: it comes from the process group or from
 * npm.
 */
const SAME_SIGNAL_MS = 1000

type StopSignal = 'SIGINT' | 'SIGTERM' | 'SIGHUP'

/** Resolves at the first Ctrl-C or request to end. A second Ctrl-C ends the process at once. */
export function stopSignal(): Promise<void> {
  return new Promise((resolve) => {
    onFirst(['SIGINT', 'SIGTERM', 'SIGHUP'], resolve)
    // Started by `npm start`: when npm is killed, the channel closes.
    if (process.channel && process.env.BYREF_LAUNCHED) {
      process.once('disconnect', resolve)
      // The channel does not keep a process alive that a signal stopped.
      process.channel.unref()
    }
    // npx starts a shell in between, which dies without sending a signal.
    if (process.env.npm_lifecycle_event) whenParentGone(resolve)
  })
}

/** Calls `notify` at the first of these signals. A later Ctrl-C ends the process at once. */
export function onFirst(signals: readonly StopSignal[], notify: () => void): void {
  let first: number | undefined
  // The listeners stay, because without one, a second signal would end the process at once.
  for (const signal of signals) {
    process.on(signal, () => {
      if (first === undefined) {
        first = Date.now()
        notify()
      } else if (signal === 'SIGINT' && Date.now() - first > SAME_SIGNAL_MS) process.exit(130)
    })
  }
}

function whenParentGone(notify: () => void): void {
  const parent = process.ppid
  const timer = setInterval(() => {
    if (process.ppid === parent) return
    clearInterval(timer)
    notify()
  }, 500)
  timer.unref()
}
