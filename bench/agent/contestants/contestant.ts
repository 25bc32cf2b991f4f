/** A framework that runs an agent: the model makes one tool call per answer, and its last answer is `done`. */
export interface Contestant {
  /** Runs one new conversation to its end. Throws if it ended in another way. */
  run(steps: number): Promise<void>
  /** The file that it writes to, if it is durable. */
  file?: string
  /** The number of appends to its log so far, if they are counted. */
  appends?(): number
  close?(): Promise<void>
}

/** The tool of all contestants. */
export function add({ a, b }: { a: number; b: number }): { sum: number } {
  work.calls++
  work.onCall()
  return { sum: a + b }
}

/** Number of calls of {@link add}, and a function that each call runs. */
export const work = { calls: 0, onCall() {} }

/** Throws unless the last answer is that of the model. */
export function checkAnswer(text: unknown): void {
  if (text !== 'done') throw new Error(`The run ended with ${JSON.stringify(text)}`)
}
