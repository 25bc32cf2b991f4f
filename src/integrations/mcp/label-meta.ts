import { isPlainObject } from '../../core/json/json.ts'
import { isPlain, join, type Label } from '../../core/labels/label.ts'
import { type LabelTree, readLabelTree, wholeOf } from '../../core/labels/label-tree.ts'
import type { Fields } from './rpc/json-rpc.ts'

/** The key of a label in the `_meta` of calls, results, resources and links. */
export const LABEL_KEY = 'byref/label'

/** Returns the label in a `_meta`; null if there is none. An invalid label is the strictest one. */
export function labelInMeta(meta: unknown): LabelTree | null {
  if (!isPlainObject(meta) || meta[LABEL_KEY] === undefined) return null
  return readLabelTree(meta[LABEL_KEY])
}

/** Joins a known label with the one in a `_meta`, which can only make it stricter. */
export function stricterByMeta(known: Label, meta: unknown): Label {
  const label = labelInMeta(meta)
  return label ? join(known, wholeOf(label)) : known
}

/**
 * Returns a label for the `_meta` of an outgoing message. It has no sources and no names of readers, which must not
 * leave.
 */
export function metaOf({ integrity, confidentiality }: Label) {
  return { [LABEL_KEY]: { integrity, confidentiality } }
}

/** Returns a result with its label in `_meta`, unless it is trusted and public. */
export function withLabel(result: Fields, label: Label): Fields {
  if (isPlain(label)) return result
  return { ...result, _meta: { ...Object(result._meta), ...metaOf(label) } }
}
