let count = 0

/** How many runs of this process had stopped making progress and were started over. Each is a defect. */
export function stalledRuns(): number {
  return count
}

/** Counts one, and warns of it. */
export function reportStalledRun(conversation: string): void {
  count++
  process.emitWarning(
    `The run in conversation "${conversation}" made no progress and was started over. This is a defect in byref: please report it with the exported conversation.`,
    { code: 'BYREF_RUN_STALLED' },
  )
}
