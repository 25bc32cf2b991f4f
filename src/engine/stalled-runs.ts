let count = 0

/** Returns how many runs of this process have stalled and were restarted. Each is a defect. */
export function stalledRuns(): number {
  return count
}

/** Counts a stalled run, and emits a warning. */
export function reportStalledRun(conversation: string): void {
  count++
  process.emitWarning(
    `The run in conversation "${conversation}" made no progress and was started over. This is a defect in byref: please report it with the exported conversation.`,
    { code: 'BYREF_RUN_STALLED' },
  )
}
