/** A command line that cannot be understood; the message says how to write it. Ends the program with status 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}
