import { sha256 } from './bodies/digest.ts'

/** The folder of a namespace: readable, and its own by a hash; `_` for none. */
export function spaceName(namespace: string | null): string {
  if (namespace === null) return '_'
  const readable = namespace
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '')
  return `${readable.slice(0, 24)}-${sha256(namespace).slice(0, 24)}`
}
