/** A wrong command line. The message says how to write it. Ends the program with status 2. */
export class UsageError extends Error {
  /** @override */
  name = 'UsageError'
}
