import { isBranch, type JsonPath } from './tree-rows.ts'

const MOST = 500

/** The paths of what has the text in its key or its value, without regard to case; the first 500. */
export function findInJson(value: unknown, text: string): JsonPath[] {
  const wanted = text.toLowerCase()
  const hits: JsonPath[] = []
  const walk = (node: unknown, path: JsonPath) => {
    if (hits.length >= MOST) return
    const key = path.at(-1)
    const inKey = typeof key === 'string' && key.toLowerCase().includes(wanted)
    const inValue = !isBranch(node) && String(node).toLowerCase().includes(wanted)
    if (inKey || inValue) hits.push(path)
    if (!isBranch(node)) return
    for (const [childKey, child] of Object.entries(node)) {
      walk(child, [...path, Array.isArray(node) ? Number(childKey) : childKey])
    }
  }
  walk(value, [])
  return hits
}
