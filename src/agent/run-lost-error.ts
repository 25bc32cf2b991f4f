/** The run is not this process's any more: it ended, was taken over, or its conversation is gone. Nothing is owed to it. */
export class RunLostError extends Error {
  constructor(message = 'The run has ended, or another process runs it') {
    super(message)
    this.name = 'RunLostError'
  }
}
