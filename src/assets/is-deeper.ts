/**
 * Returns whether JSON is nested more than `levels` deep. It works level by level, so depth cannot overflow the stack.
 */
export function isDeeper(value: unknown, levels: number): boolean {
  let level = [value].filter(isContainer)
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > levels) return true
    const next: object[] = []
    for (const container of level) {
      for (const item of Object.values(container)) if (isContainer(item)) next.push(item)
    }
    level = next
  }
  return false
}

function isContainer(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}
