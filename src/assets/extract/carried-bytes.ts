import { decodeBase64, isBase64File, parseDataUrl } from '../bodies/data-url.ts'
import { carriesRef, copiedKeys, type Fields, shapeOf } from './asset-shapes.ts'
import { binaryBody } from './found-body.ts'
import {
  type Contents,
  contentsOf,
  createNode,
  fieldNamed,
  keyAt,
  rebuild,
  type TreeNode,
} from './value-tree.ts'

/**
 * Removes the bytes in objects that already have an `assetRef`, at any depth: base64 and data URLs as whole values, and
 * bytes. Text that contains a data URL stays, and so does `text` from `fetch_asset`. Unchanged parts are shared; the
 * value itself is never changed.
 */
export function withoutCarriedBytes(value: unknown): unknown {
  const nodes = new Map<object, TreeNode<never>>()

  function visit(item: object, parent: TreeNode<never>, position: number): void {
    const known = nodes.get(item)
    if (known) {
      known.otherParents ??= []
      known.otherParents.push(parent)
      return
    }
    if (item instanceof Date || binaryBody(item) || ArrayBuffer.isView(item)) return
    const contents = contentsOf(item)
    const kept = withoutCopies(contents, keyAt(parent, position))
    const node = createNode<never>(item, kept ?? contents, parent, position)
    node.isCut = kept !== null
    nodes.set(item, node)
  }

  const around = [value]
  nodes.set(around, createNode<never>(around, contentsOf(around), null, 0))
  for (const node of nodes.values()) {
    for (const [i, item] of node.items.entries()) {
      if (typeof item === 'object' && item !== null) visit(item, node, i)
    }
  }
  return rebuild([...nodes.values()], (leaf) => leaf)
}

/** Returns the rest of an object that has a reference. Null if it has none, or nothing else. */
function withoutCopies(contents: Contents, parentKey: unknown): Contents | null {
  if (!carriesRef(fieldNamed(contents, 'assetRef'))) return null
  const keys = contents.keys ?? []
  const fields = Object.fromEntries(keys.map((key, i) => [key, contents.items[i]])) as Fields
  const copies = new Set([...copiedKeys(fields), ...shapedKeys(fields, parentKey)])
  const kept = Object.entries(fields).filter(
    ([key, item]) => key === 'text' || !(copies.has(key) || isBytes(item)),
  )
  if (kept.length === keys.length) return null
  return contentsOf(Object.fromEntries(kept))
}

/** Returns the keys of the bytes that would be a body if there were no reference. */
function shapedKeys(fields: Fields, parentKey: unknown): string[] {
  const shape = shapeOf(fields, parentKey)
  const isBroken = shape?.body.type === 'base64' && decodeBase64(shape.body.text) === null
  return shape && !isBroken ? shape.keys : []
}

function isBytes(item: unknown): boolean {
  if (typeof item === 'string') return parseDataUrl(item) !== null || isBase64File(item)
  return typeof item === 'object' && item !== null && binaryBody(item) !== null
}
