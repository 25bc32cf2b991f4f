/** A key as a step of a JSON Pointer (RFC 6901), slash included. */
export function pointerStep(key: unknown): string {
  return `/${String(key).replace(/~/g, '~0').replace(/\//g, '~1')}`
}
