import { type Check, is } from '../check-options.ts'
import { isPlainObject } from '../json/json.ts'
import type { FieldKey } from '../refs/field-key.ts'
import {
  join,
  LABEL_OPTIONS,
  type Label,
  type LabelInput,
  readLabel,
  STRICTEST,
  type WrittenLabel,
  writeLabel,
} from './label.ts'

/**
 * The labels of one value. `label` applies to the value itself: its keys, its length, and every field that is not
 * listed. `fields` has the fields with labels of their own, by key. `*` applies to all fields that are not listed.
 */
export interface LabelTree {
  readonly label: Label
  readonly fields?: Readonly<Record<string, LabelTree>>
}

/** A label tree, as tools and messages declare it. */
export interface LabelTreeInput extends LabelInput {
  fields?: Readonly<Record<string, LabelTreeInput>>
}

export const LABEL_TREE: Check<LabelTreeInput> = is.group<LabelTreeInput>({
  ...LABEL_OPTIONS,
  get fields() {
    return is.recordOf(LABEL_TREE)
  },
})

/** A label tree, as events store it. */
export interface WrittenLabelTree extends WrittenLabel {
  fields?: Readonly<Record<string, WrittenLabelTree>>
}

/** The key for all fields that are not listed. */
const EACH = '*'

/** Maximum depth. Deeper trees have the strictest label. */
const MAX_DEPTH = 50

/** Returns the label of the value with all its fields. */
export function wholeOf({ label, fields }: LabelTree): Label {
  let whole = label
  if (fields) for (const field of Object.values(fields)) whole = join(whole, wholeOf(field))
  return whole
}

/** Returns the labels of the value at a path. If it has none, it has those of the nearest value above it. */
export function treeAt(tree: LabelTree, path: readonly FieldKey[]): LabelTree {
  let found = tree
  for (const key of path) {
    if (!found.fields) return found
    found = childOf(found, String(key))
  }
  return found
}

/** Joins two trees. */
export function joinTrees(a: LabelTree, b: LabelTree): LabelTree {
  const label = join(a.label, b.label)
  if (!a.fields && !b.fields) return label === a.label ? a : label === b.label ? b : { label }
  const keys = new Set([...Object.keys(a.fields ?? {}), ...Object.keys(b.fields ?? {})])
  const fields = recordOf(
    [...keys].map((key) => [key, joinTrees(childOf(a, key), childOf(b, key))]),
  )
  return { label, fields }
}

/** Replaces the subtree at a path. */
export function withTreeAt(
  tree: LabelTree,
  [key, ...rest]: readonly FieldKey[],
  put: LabelTree,
): LabelTree {
  if (key === undefined) return put
  const name = String(key)
  const written = withTreeAt(childOf(tree, name), rest, put)
  // A field with the name "*" shares its labels with all fields that are not listed.
  const field = name === EACH ? joinTrees(childOf(tree, name), written) : written
  // A label that the tree already has need not be repeated for the field.
  if (!tree.fields && !field.fields && field.label === tree.label) return tree
  // Without a prototype, "__proto__" is a key like any other.
  const fields: Record<string, LabelTree> = Object.assign(Object.create(null), tree.fields)
  fields[name] = field
  return { label: tree.label, fields }
}

/** Joins a label to every label of the tree. */
export function joinLabel(tree: LabelTree, label: Label): LabelTree {
  return joinTrees(tree, { label })
}

/** Maps every label of the tree. */
export function mapLabels(
  { label, fields }: LabelTree,
  change: (label: Label) => Label,
): LabelTree {
  if (!fields) return { label: change(label) }
  const changed = Object.entries(fields).map(([key, field]) => [key, mapLabels(field, change)])
  return { label: change(label), fields: recordOf(changed as [string, LabelTree][]) }
}

/** Reads a declared tree. An invalid label becomes the strictest one. */
export function readLabelTree(given: unknown, depth = 0): LabelTree {
  const label = readLabel(given)
  if (!isPlainObject(given) || given.fields === undefined) return { label }
  if (!isPlainObject(given.fields) || depth > MAX_DEPTH) return { label: STRICTEST }
  const fields = Object.entries(given.fields).map(([key, field]): [string, LabelTree] => [
    key,
    readLabelTree(field, depth + 1),
  ])
  return { label, fields: recordOf(fields) }
}

/** Converts a tree to the form that events store. */
export function writeLabelTree({ label, fields }: LabelTree): WrittenLabelTree {
  const written = writeLabel(label)
  if (!fields) return written
  const entries = Object.entries(fields).map(([key, field]) => [key, writeLabelTree(field)])
  return { ...written, fields: recordOf(entries as [string, WrittenLabelTree][]) }
}

function childOf({ label, fields }: LabelTree, key: string): LabelTree {
  if (!fields) return { label }
  if (Object.hasOwn(fields, key)) return fields[key] as LabelTree
  return Object.hasOwn(fields, EACH) ? (fields[EACH] as LabelTree) : { label }
}

function recordOf<T>(entries: readonly (readonly [string, T])[]): Record<string, T> {
  const record: Record<string, T> = Object.create(null)
  for (const [key, value] of entries) record[key] = value
  return record
}
