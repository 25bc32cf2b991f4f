/** Whether JSON could hold a reference: a variable, marks in a text, an asset's URL, or one as an object. */
export function mayHoldRefs(root: unknown): boolean {
  const waiting: unknown[] = [root]
  for (let value = waiting.pop(); value !== undefined; value = waiting.pop()) {
    if (typeof value === 'string') {
      if (IN_TEXT.test(value)) return true
    } else if (typeof value === 'object' && value !== null) {
      if ('asset_id' in value || 'assetRef' in value) return true
      waiting.push(...Object.values(value).filter((item) => item !== undefined))
    }
  }
  return false
}

const IN_TEXT = /†|<\||^\s*asset:/i
