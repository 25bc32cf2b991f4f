/** MIME types and the largest body of each in bytes. `image/*` stands for every type of images. */
export type TakenTypes = Readonly<Record<string, number>>

/** The largest body of the type that is taken, in bytes; null where the type is not. */
export function limitOf(types: TakenTypes, mime: string): number | null {
  return types[mime] ?? types[`${topLevel(mime)}/*`] ?? types['*/*'] ?? null
}

/** Those of the types that `accept` lets through. */
export function selectTypes(types: TakenTypes, accept: (mime: string) => boolean): TakenTypes {
  return Object.fromEntries(Object.entries(types).filter(([mime]) => accept(mime)))
}

/** `image` of `image/png` and `image/*`. */
export function topLevel(mime: string): string {
  return mime.slice(0, Math.max(mime.indexOf('/'), 0))
}

/** Whether a type is named in full: no `image/*`, and not the type of bytes of which nothing is known. */
export function isFullType(mime: string): boolean {
  return mime.includes('/') && !mime.endsWith('/*') && mime !== 'application/octet-stream'
}
