import { ByrefError } from '../../errors.ts'
import { mayHoldDataUrl, parseDataUrl } from '../bodies/data-url.ts'
import { type DataUrlMatch, findDataUrls } from '../bodies/find-data-urls.ts'
import {
  type AssetShape,
  carriesRef,
  copiedKeys,
  DATA_KEYS,
  type Fields,
  shapeOf,
} from './asset-shapes.ts'
import { binaryBody, cancelFound, type FoundBody } from './found-body.ts'
import {
  type Contents,
  contentsOf,
  createNode,
  fieldNamed,
  keyAt,
  originOf,
  readableContents,
  type TreeNode,
} from './value-tree.ts'

/** A value that becomes a reference. */
export interface FoundValue {
  type: 'value'
  body: FoundBody
  /** The type that was claimed beside it. */
  mime: string | null
  name: string | null
  /** What stays beside the reference. */
  rest: Fields
  /** JSON Pointer (RFC 6901). */
  origin: string
}

/** A text with data URLs in it, which become embedded references. */
export interface FoundText {
  type: 'text'
  text: string
  urls: DataUrlMatch[]
  origin: string
}

/** Something with a body that is to be saved. */
export type Finding = FoundValue | FoundText

/** A typed array of numbers: a list of them says the same, and JSON can carry it. */
export interface FoundNumbers {
  type: 'numbers'
  list: readonly (number | bigint)[]
}

/** What an item becomes. */
export type Leaf = Finding | FoundNumbers

/** A value as it was walked. */
export interface FoundAssets {
  /** The first is a list around the value. */
  nodes: TreeNode<Leaf>[]
  /** In the order of the walk. */
  findings: Finding[]
}

type Node = TreeNode<Leaf>

/** Keys of a reference, or of the error in its place: ours win. */
const RESULT_KEYS: ReadonlySet<string> = new Set(['assetRef', 'mimeType', 'kind', 'assetError'])

/**
 * Finds everything in a value that becomes an asset, and typed arrays, which become lists. Iterative, so that neither
 * depth nor cycles end it; changes nothing, and reads each field once. What has a `toJSON` is what that gives, as in the
 * log; what throws when it is read is a body that cannot be saved. Keys are left alone, also where they are base64.
 * When it throws, the streams that it found are ended.
 *
 * @throws ByrefError `too_deep` beyond `depth` levels, `too_many_assets` beyond `items`
 */
export function findAssets(value: unknown, limits: { depth: number; items: number }): FoundAssets {
  const nodes = new Map<object, Node>()
  const findings: Finding[] = []
  let count = 0

  function enter(item: object, contents: Contents, parent: Node | null, position: number): Node {
    const node = createNode<Leaf>(item, contents, parent, position)
    if (node.level > limits.depth) throw tooDeep(limits.depth)
    nodes.set(item, node)
    return node
  }

  function addFinding(finding: Finding): Finding {
    findings.push(finding)
    count += finding.type === 'text' ? finding.urls.length : 1
    if (count > limits.items) throw tooMany(limits.items)
    return finding
  }

  function visitObject(item: object, parent: Node, position: number, isCarrier: boolean): void {
    const known = nodes.get(item)
    if (known) {
      known.otherParents ??= []
      known.otherParents.push(parent)
      return
    }
    const seen = lookAt(item, keyAt(parent, position))
    if (seen?.type === 'contents') visitContents(item, seen, parent, position)
    else if (seen?.type === 'text') visitText(seen.text, parent, position)
    else if (seen?.type === 'numbers') setLeaf(parent, position, seen)
    else if (seen?.type === 'body' && !(isCarrier && seen.body.type !== 'unreadable')) {
      const { body } = seen
      const origin = originOf(parent, position)
      const found: Finding = { type: 'value', body, mime: null, name: null, rest: {}, origin }
      setLeaf(parent, position, addFinding(found))
    }
  }

  function visitContents(
    item: object,
    { contents, shape }: SeenContents,
    parent: Node,
    position: number,
  ): void {
    if (!shape) {
      enter(item, contents, parent, position)
      return
    }
    const { body, mime, name, rest } = shape
    const origin = originOf(parent, position)
    const finding = addFinding({ type: 'value', body, mime, name, rest, origin })
    if (!Object.values(rest).some(isToWalk)) setLeaf(parent, position, finding)
    else enter(item, contentsOf(rest), parent, position).own = finding
  }

  function visitText(text: string, parent: Node, position: number): void {
    const found = mayHoldDataUrl(text) ? findInText(text, parent, position) : null
    if (found) setLeaf(parent, position, addFinding(found))
  }

  function visitItems(node: Node): void {
    const { items } = node
    const isCarrier = carriesRef(fieldNamed(node, 'assetRef'))
    for (let i = 0; i < items.length; i++) {
      const item = items[i]
      if (isObject(item)) visitObject(item, node, i, isCarrier)
      else if (typeof item === 'string' && !isCarrier) visitText(item, node, i)
    }
  }

  try {
    const around = [value]
    enter(around, contentsOf(around), null, 0)
    // A Map yields what is added while it is walked: this ends when everything was seen.
    for (const node of nodes.values()) visitItems(node)
  } catch (error) {
    endStreams(findings, error)
    throw error
  }
  return { nodes: [...nodes.values()], findings }
}

/** Ends the streams among findings that nobody has begun to read. */
export function endStreams(findings: readonly Finding[], reason: unknown): void {
  for (const finding of findings) if (finding.type === 'value') cancelFound(finding.body, reason)
}

/** What an object is to the walk. */
type Seen =
  | SeenContents
  | FoundNumbers
  | { type: 'body'; body: FoundBody }
  | { type: 'text'; text: string }

interface SeenContents {
  type: 'contents'
  contents: Contents
  shape: ShapeFound | null
}

type ShapeFound = AssetShape & { rest: Fields }

/** What a field gave that throws when it is read. */
class Unreadable {
  readonly error: unknown

  constructor(error: unknown) {
    this.error = error
  }
}

/** What the object is; null for what stays as it is. Reads it, and never throws. */
function lookAt(item: object, key: unknown): Seen | null {
  try {
    return see(item, key)
  } catch (error) {
    return { type: 'body', body: { type: 'unreadable', error } }
  }
}

function see(item: object, key: unknown): Seen | null {
  if (!isContainer(item)) {
    const seen = seeBinary(item)
    if (seen || item instanceof Date) return seen
  }
  const { toJSON } = item as { toJSON?: unknown }
  if (typeof toJSON !== 'function') return seeContents(item, key)
  const json = jsonOf(item, key)
  if (typeof json === 'string') return { type: 'text', text: json }
  return isObject(json) ? (seeBinary(json) ?? seeContents(json, key)) : null
}

/** Null where `toJSON` throws: whoever makes JSON of the value hears of it. */
function jsonOf(item: object, key: unknown): unknown {
  try {
    return (item as { toJSON(key: string): unknown }).toJSON(String(key))
  } catch {
    return null
  }
}

function seeBinary(item: object): Seen | null {
  if (item instanceof Unreadable) {
    return { type: 'body', body: { type: 'unreadable', error: item.error } }
  }
  const body = binaryBody(item)
  if (body) return { type: 'body', body }
  return ArrayBuffer.isView(item) ? { type: 'numbers', list: numbersIn(item) } : null
}

function seeContents(item: object, key: unknown): SeenContents {
  const contents = readContents(item)
  return { type: 'contents', contents, shape: shapeIn(item, contents, key) }
}

function readContents(item: object): Contents {
  try {
    return contentsOf(item)
  } catch {
    return readableContents(item, (error) => new Unreadable(error))
  }
}

/** Plain data, in most cases: what needs no look at its class. */
function isContainer(item: object): boolean {
  const prototype = Object.getPrototypeOf(item)
  if (prototype === Object.prototype || prototype === Array.prototype) return true
  return prototype === null || item instanceof Map || item instanceof Set
}

/** The shape that an object is, with what stays beside its body; null for plain data, and beside a reference. */
function shapeIn(item: object, { keys, items }: Contents, parentKey: unknown): ShapeFound | null {
  if (!keys?.some((key) => DATA_KEYS.has(key as string)) || item instanceof Map) return null
  const fields = Object.fromEntries(keys.map((key, i) => [key, items[i]])) as Fields
  const shape = carriesRef(fields.assetRef) ? null : shapeOf(fields, parentKey)
  if (!shape) return null
  const dropped = new Set([...shape.keys, ...copiedKeys(fields)])
  if (shape.typeKey !== null) dropped.add(shape.typeKey)
  const kept = Object.entries(fields).filter(([key]) => !dropped.has(key) && !RESULT_KEYS.has(key))
  return { ...shape, rest: Object.fromEntries(kept) }
}

function findInText(text: string, parent: Node, position: number): Finding | null {
  const url = parseDataUrl(text)
  if (url) {
    const body: FoundBody = { type: 'data-url', text }
    const origin = originOf(parent, position)
    return { type: 'value', body, mime: url.mime, name: null, rest: {}, origin }
  }
  const urls = findDataUrls(text)
  return urls.length > 0 ? { type: 'text', text, urls, origin: originOf(parent, position) } : null
}

function numbersIn(view: ArrayBufferView): readonly (number | bigint)[] {
  return Array.from(view as unknown as Iterable<number | bigint>)
}

function setLeaf(node: Node, position: number, leaf: Leaf): void {
  node.leaves ??= new Map()
  node.leaves.set(position, leaf)
}

/** Whether something in it may become something else. */
function isToWalk(value: unknown): boolean {
  return typeof value === 'string' ? mayHoldDataUrl(value) : isObject(value)
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}

function tooDeep(depth: number): ByrefError {
  return new ByrefError(
    'too_deep',
    `The result is nested more than ${depth} levels deep (limits.depth).`,
  )
}

function tooMany(items: number): ByrefError {
  return new ByrefError(
    'too_many_assets',
    `The result holds more than ${items} assets (limits.items).`,
  )
}
