/** A contestant: how it accepts conversations, and what one of its processes does. */
export interface Contestant {
  name: string
  /** Creates the tables, and enqueues this many conversations. Resolves when they are accepted. */
  enqueue(connectionString: string, conversations: number): Promise<void>
  /** SQL that returns the number of finished conversations as `n`. */
  ended: string
  /** Runs conversations until the process is killed. Resolves when it has started. */
  work(connectionString: string, concurrency: number): Promise<void>
}

/** Steps of one conversation: answers of an instant model that call a tool which does nothing. */
export const STEPS = 10
