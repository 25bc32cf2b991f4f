/**
 * Returns the `_instance` of a call's arguments: the instance that the call reads first, and writes to. Undefined if
 * it is absent, empty or not text.
 */
export function ownInstance(args: unknown): string | undefined {
  const { _instance: instance } = Object(args)
  return typeof instance === 'string' && instance !== '' ? instance : undefined
}
