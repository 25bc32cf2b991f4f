/**
 * Lets work go on that nobody waits for: the only way to leave a promise alone. An error becomes a warning of the
 * process, with what was being done, and never ends it.
 */
export function inBackground(what: string, work: Promise<unknown> | undefined): void {
  work?.catch((error: unknown) => {
    const warning = new Error(`${what} failed in the background`, { cause: error })
    if (typeof process === 'undefined') console.error(warning)
    else process.emitWarning(warning)
  })
}
