import { isPlainObject } from '../json/json.ts'
import { isOffloaded } from '../messages/offloaded.ts'
import { isAssetRef } from '../refs/asset-ref.ts'
import { type LabelTree, treeAt } from './label-tree.ts'

/** Whether any part of a value is untrusted. */
export function isRedacted({ label, fields }: LabelTree): boolean {
  return label.integrity === 'untrusted' || Object.values(fields ?? {}).some(isRedacted)
}

/**
 * Returns a value as a model in quarantine sees it: untrusted parts are replaced by descriptions. Returns the same
 * value if nothing is untrusted.
 */
export function redactValue(value: unknown, tree: LabelTree): unknown {
  if (tree.label.integrity === 'untrusted') return placeholder(value)
  if (!tree.fields || !isRedacted(tree)) return value
  // The labels belong to the value behind the reference. Its preview has other keys.
  if (isOffloaded(value)) return placeholder(value)
  if (Array.isArray(value)) {
    const isHidden = Object.values(tree.fields).every(
      ({ label }) => label.integrity === 'untrusted',
    )
    // All items would have the same text.
    if (isHidden && '*' in tree.fields) return placeholder(value)
    return value.map((item, i) => redactValue(item, treeAt(tree, [i])))
  }
  if (!isPlainObject(value)) return placeholder(value)
  // A spread would handle a "__proto__" key differently.
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, redactValue(item, treeAt(tree, [key]))]),
  )
}

/**
 * Returns the text that replaces an untrusted value: its type and approximate size, without any key, text or number
 * from it.
 */
export function placeholder(value: unknown): string {
  return `<untrusted ${describe(value)}>`
}

/**
 * Returns the line that shows an untrusted value by its name.
 *
 * @param shape A short description of the fields that its tool promises; null without one.
 */
export function redactedText(name: string, value: unknown, shape: string | null = null): string {
  return `${name} = ${placeholder(value)}${shape === null ? '' : `, with this shape: ${shape}`}`
}

const KINDS: ReadonlySet<unknown> = new Set(['image', 'audio', 'video', 'file'])

function describe(value: unknown): string {
  if (typeof value === 'string') return `text, ${count(value.length)} characters`
  if (value === null || value === undefined) return 'nothing'
  if (typeof value !== 'object') return typeof value
  const size = `${count(JSON.stringify(value)?.length ?? 0)} characters of JSON`
  if (Array.isArray(value)) return `list, ${count(value.length)} items, ${size}`
  const { assetRef, kind, offloaded, size: bytes } = value as Record<string, unknown>
  if (typeof assetRef !== 'string' || !isAssetRef(assetRef)) return `object, ${size}`
  const large = Number.isSafeInteger(bytes) ? `, ${count(bytes as number)} bytes` : ''
  return `${offloaded === true ? 'large value' : KINDS.has(kind) ? kind : 'file'}${large}`
}

/** Rounded, because an exact number would reveal part of the value. */
function count(number: number): string {
  if (number < 100) return String(number)
  const unit = 10 ** (String(number).length - 2)
  return `about ${Math.round(number / unit) * unit}`
}
