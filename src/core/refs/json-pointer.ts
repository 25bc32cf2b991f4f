import type { FieldKey } from './field-key.ts'

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
