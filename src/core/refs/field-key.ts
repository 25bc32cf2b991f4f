/** One step of a path: a key of an object or a Map, or an index into a list. "0" and 0 are the same index. */
export type FieldKey = string | number

/** Whether the value can be a step of a path: text, or an integer of at least 0. */
export function isFieldKey(key: unknown): key is FieldKey {
  return typeof key === 'string' || indexOf(key) !== -1
}

/** Returns the list index that a key represents; -1 if none. Text must be canonical: "7", not "07". */
export function indexOf(key: unknown): number {
  if (typeof key === 'string') {
    const first = key.charCodeAt(0)
    if (!(first >= 48 && first < 58) || !/^(?:0|[1-9]\d{0,15})$/.test(key)) return -1
    return indexOf(Number(key))
  }
  return Number.isSafeInteger(key) && (key as number) >= 0 ? (key as number) : -1
}

/** Returns a key as a step of a JSON Pointer (RFC 6901), including the slash. */
export function pointerStep(key: unknown): string {
  return `/${String(key).replace(/~/g, '~0').replace(/\//g, '~1')}`
}

/** Returns the JSON Pointer of a path. */
export function toPointer(path: readonly FieldKey[]): string {
  return path.map(pointerStep).join('')
}

/** Returns the keys of a JSON Pointer. */
export function fromPointer(pointer: string): string[] {
  const keys = pointer.split('/').slice(1)
  return keys.map((key) => key.replace(/~1/g, '/').replace(/~0/g, '~'))
}
