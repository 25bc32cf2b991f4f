/** Whether JSON has containers below `levels` others. Level by level, so that no depth ends the process. */
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
