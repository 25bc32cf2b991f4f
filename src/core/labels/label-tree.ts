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
 * The labels in one value. `label` is that of the value itself: its keys, its length, and every field that is not listed.
 * `fields` are those that have labels of their own, by key; `*` stands for each that is not named.
 */
export interface LabelTree {
  readonly label: Label
  readonly fields?: Readonly<Record<string, LabelTree>>
}

/** A tree as somebody says it of a value. */
export interface LabelTreeInput extends LabelInput {
  fields?: Readonly<Record<string, LabelTreeInput>>
}

export const LABEL_TREE: Check<LabelTreeInput> = is.group<LabelTreeInput>({
  ...LABEL_OPTIONS,
  get fields() {
    return is.recordOf(LABEL_TREE)
  },
})

/** A tree as events carry it. */
export interface WrittenLabelTree extends WrittenLabel {
  fields?: Readonly<Record<string, WrittenLabelTree>>
}

/** What names each field that is not named. */
const EACH = '*'

/** Deeper trees are read as the strictest label. */
const MAX_DEPTH = 50

/** The label of everything in the value together. */
export function wholeOf({ label, fields }: LabelTree): Label {
  let whole = label
  if (fields) for (const field of Object.values(fields)) whole = join(whole, wholeOf(field))
  return whole
}

/** The labels of the value at a path: those of what is nearest above it, where it has none of its own. */
export function treeAt(tree: LabelTree, path: readonly FieldKey[]): LabelTree {
  let found = tree
  for (const key of path) {
    if (!found.fields) return found
    found = childOf(found, String(key))
  }
  return found
}

/** The labels of what is made of both. */
export function joinTrees(a: LabelTree, b: LabelTree): LabelTree {
  const label = join(a.label, b.label)
  if (!a.fields && !b.fields) return label === a.label ? a : label === b.label ? b : { label }
  const keys = new Set([...Object.keys(a.fields ?? {}), ...Object.keys(b.fields ?? {})])
  const fields = recordOf(
    [...keys].map((key) => [key, joinTrees(childOf(a, key), childOf(b, key))]),
  )
  return { label, fields }
}

/** The tree with another one in place of what is at the path. */
export function withTreeAt(
  tree: LabelTree,
  [key, ...rest]: readonly FieldKey[],
  put: LabelTree,
): LabelTree {
  if (key === undefined) return put
  const name = String(key)
  const written = withTreeAt(childOf(tree, name), rest, put)
  // A field that is named "*" shares its labels with every field that is not named.
  const field = name === EACH ? joinTrees(childOf(tree, name), written) : written
  // What the tree says already need not be said of the field.
  if (!tree.fields && !field.fields && field.label === tree.label) return tree
  return { label: tree.label, fields: { __proto__: null, ...tree.fields, [name]: field } as never }
}

/** The tree with a label joined to everything in it. */
export function joinLabel(tree: LabelTree, label: Label): LabelTree {
  return joinTrees(tree, { label })
}

/** The tree with each of its labels changed. */
export function mapLabels(
  { label, fields }: LabelTree,
  change: (label: Label) => Label,
): LabelTree {
  if (!fields) return { label: change(label) }
  const changed = Object.entries(fields).map(([key, field]) => [key, mapLabels(field, change)])
  return { label: change(label), fields: recordOf(changed as [string, LabelTree][]) }
}

/** Reads what somebody says of a value and its fields; what is no label is the strictest. */
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

/** The tree as events carry it. */
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
