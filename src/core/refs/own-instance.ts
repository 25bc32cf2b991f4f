/**
 * Returns the `_instance` of a call's arguments: the instance that the call reads first, and writes to. Undefined if
 * it is absent or empty, and for anything but text and numbers.
 */
export function ownInstance(args: unknown): string | undefined {
  const { _instance: instance } = Object(args)
  const name = typeof instance === 'number' ? String(instance) : instance
  return typeof name === 'string' && name !== '' ? name : undefined
}
