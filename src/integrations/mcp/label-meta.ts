import { isPlainObject } from '../../core/json/json.ts'
import { isPlain, join, type Label } from '../../core/labels/label.ts'
import { type LabelTree, readLabelTree, wholeOf } from '../../core/labels/label-tree.ts'
import type { Fields } from './rpc/json-rpc.ts'

/** The key in `_meta` of calls, results, resources and links under which their label is. */
export const LABEL_KEY = 'byref/label'

/** What `_meta` says of what it belongs to; null where it says nothing. What is no label is the strictest. */
export function labelInMeta(meta: unknown): LabelTree | null {
  if (!isPlainObject(meta) || meta[LABEL_KEY] === undefined) return null
  return readLabelTree(meta[LABEL_KEY])
}

/** What `_meta` says of what it belongs to, for somebody who believes it only where it is stricter than what is known. */
export function stricterByMeta(known: Label, meta: unknown): Label {
  const said = labelInMeta(meta)
  return said ? join(known, wholeOf(said)) : known
}

/**
 * A label for the `_meta` of what goes out: no sources, which mean nothing outside, and no names of readers. Private with
 * nobody named is what stands for them.
 */
export function metaOf({ integrity, confidentiality }: Label) {
  return { [LABEL_KEY]: { integrity, confidentiality } }
}

/** A result that says its label, where that says anything. */
export function withLabel(result: Fields, label: Label): Fields {
  if (isPlain(label)) return result
  return { ...result, _meta: { ...Object(result._meta), ...metaOf(label) } }
}
