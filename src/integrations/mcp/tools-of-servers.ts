import type { Tool } from '@modelcontextprotocol/client'

/** In the list of the tools of several servers: the names of servers whose tools may be missing. */
export const NOT_RUNNING = 'byref/notRunning'

/** Returns whether a tool only runs as a task of 2025-11-25, which the SDK does not support. */
export function needsOldTask({ execution }: Tool): boolean {
  return execution?.taskSupport === 'required'
}

/** Maximum length of a name that model providers accept. */
const LENGTH = 64

/**
 * Returns a name that is not taken. Characters that providers do not accept become `_`. A name that is taken gets a
 * number.
 */
export function freeName(wanted: string, taken: { has(name: string): boolean }): string {
  const accepted = wanted.replace(/[^\w-]/g, '_')
  const name = accepted.slice(0, LENGTH)
  if (!taken.has(name)) return name
  for (let number = 2; ; number++) {
    const end = `_${number}`
    const other = `${accepted.slice(0, LENGTH - end.length)}${end}`
    if (!taken.has(other)) return other
  }
}
