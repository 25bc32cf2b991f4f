import { once } from 'node:events'

/** Resolves at the first Ctrl-C or request to end; a second Ctrl-C ends the process at once. */
export function stopSignal(): Promise<unknown> {
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
  const reasons = signals.map((signal) => once(process, signal))
  // Started by `npm start`: when that is killed, there is nobody left to stop this.
  if (process.channel) {
    reasons.push(once(process, 'disconnect'))
    // Waiting for that must not keep this alive when it was stopped by a signal.
    process.channel.unref()
  }
  // By npx there is a shell in between, which dies without a word to this.
  if (process.env.npm_lifecycle_event) reasons.push(parentGone())
  return Promise.race(reasons).then(() => {
    const first = Date.now()
    for (const signal of signals) {
      process.on(signal, () => {
        // A signal to the whole group also comes by way of who started this, and then a person has pressed nothing twice.
        if (signal === 'SIGINT' && Date.now() - first > 1000) process.exit(130)
      })
    }
  })
}

function parentGone(): Promise<never[]> {
  const parent = process.ppid
  return new Promise((resolve) => {
    const timer = setInterval(() => {
      if (process.ppid === parent) return
      clearInterval(timer)
      resolve([])
    }, 500)
    timer.unref()
  })
}
