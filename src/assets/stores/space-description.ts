import { ByrefError } from '../../errors.ts'

/** The text of the file that says which namespace a folder holds. */
export function describeSpace(namespace: string | null): string {
  return JSON.stringify({ namespace })
}

/**
 * The namespace in a text that {@link describeSpace} made; `path` is where it lies.
 *
 * @throws ByrefError `storage_failed` for a text that is damaged
 */
export function describedNamespace(text: string, path: string): string | null {
  const namespace = fieldIn(text, 'namespace')
  if (namespace === null || typeof namespace === 'string') return namespace
  throw new ByrefError(
    'storage_failed',
    `${path} is damaged: it says which namespace is kept beside it, as {"namespace":"…"}, or null for the one without a name. Write it again.`,
  )
}

/** A field of the JSON object in a text; undefined where there is none. */
export function fieldIn(text: string, field: string): unknown {
  try {
    return JSON.parse(text)?.[field]
  } catch {
    return undefined
  }
}
