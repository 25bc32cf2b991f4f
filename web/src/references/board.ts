import type { Message } from 'byref/client'
export function readVariable(
  messages: readonly Message[],
  reference: string,
): { value: unknown } | { problem: string } {
  void messages
  return { problem: `${reference}: no board yet` }
}
