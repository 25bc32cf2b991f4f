/** The run is not this process's any more: it ended, was taken over, or its conversation is gone. Nothing is owed to it. */
export class RunLostError extends Error {
  /** Whether the run may go on elsewhere, or later: what was begun for it must not be ended. */
  readonly goesOn: boolean

  constructor({ goesOn = true }: { goesOn?: boolean } = {}) {
    super('The run has ended, or another process runs it')
    this.name = 'RunLostError'
    this.goesOn = goesOn
  }
}
