/**
 * Runs work without waiting for it. Every floating promise in byref uses this function. An error becomes a
 * process warning that names the work, and does not end the process.
 */
export function inBackground(what: string, work: Promise<unknown> | undefined): void {
  work?.catch((error: unknown) => warn(`${what} failed in the background`, error))
}

/** Throws an error of an app's callback as an uncaught exception, so that the work around it goes on. */
export function throwLater(error: unknown): void {
  queueMicrotask(() => {
    throw error
  })
}

/** Reports a problem to the developer as a process warning, which does not end the process. */
export function warn(message: string, cause?: unknown): void {
  const warning = new Error(message, cause === undefined ? {} : { cause })
  // Node prints the name, and a warning is no error.
  warning.name = 'Warning'
  if (typeof process === 'undefined') console.error(warning)
  else process.emitWarning(warning)
}
