/** What runs an agent: one tool call per answer of an instant model, then a last answer, `done`. */
export interface Contestant {
  /** Runs one new conversation to its end, and throws where it ended otherwise. */
  run(steps: number): Promise<void>
  /** The file that it writes to, where it is durable. */
  file?: string
  /** Appends to its log so far, where those are counted. */
  appends?(): number
  close?(): Promise<void>
}

/** Everybody's tool. */
export function add({ a, b }: { a: number; b: number }): { sum: number } {
  work.calls++
  work.onCall()
  return { sum: a + b }
}

/** How often {@link add} was called, and what is done each time. */
export const work = { calls: 0, onCall() {} }

/** Throws unless the last answer is that of the model. */
export function checkAnswer(text: unknown): void {
  if (text !== 'done') throw new Error(`The run ended with ${JSON.stringify(text)}`)
}
