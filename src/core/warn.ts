/** Reports a problem to the developer as a process warning, which does not end the process. */
export function warn(message: string, cause: unknown): void {
  const warning = new Error(message, { cause })
  if (typeof process === 'undefined') console.error(warning)
  else process.emitWarning(warning)
}
