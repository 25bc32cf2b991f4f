import { type FieldKey, MISSING, ownField } from '../refs/field-path.ts'
import type { FullAssetStore } from './asset-store.ts'
import type { ContentCache } from './content-cache.ts'

/** The content of an asset, read as far as it is asked for. */
export interface AssetContent {
  /** The value at a path below the content, as the caller's own. Reads only the bytes that it holds or leads through. */
  at(path: readonly FieldKey[]): Promise<FoundField>
}

/** What content is read from, and its limits: bytes that may become a value, and levels. */
export interface ContentAccess {
  store: FullAssetStore
  cache: ContentCache
  limits: { valueBytes: number; depth: number }
}

/** A field, or what has no such field: the step that leads nowhere, and the container that it starts from. */
export type FoundField =
  | { isFound: true; value: unknown }
  | { isFound: false; container: unknown; depth: number }

/** The field at a path in a value. */
export function fieldAt(value: unknown, path: readonly FieldKey[]): FoundField {
  let container = value
  for (const [depth, step] of path.entries()) {
    const next = ownField(container, step)
    if (next === MISSING) return { isFound: false, container, depth }
    container = next
  }
  return { isFound: true, value: container }
}
