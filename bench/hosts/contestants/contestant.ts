/** One of those who are compared: how it takes conversations, and what one of its processes does. */
export interface Contestant {
  name: string
  /** Makes the tables, and enqueues so many conversations; resolves when they are accepted. */
  enqueue(connectionString: string, conversations: number): Promise<void>
  /** SQL that counts, as `n`, those that have ended. */
  ended: string
  /** Advances conversations until the process is killed; resolves when it has begun. */
  work(connectionString: string, concurrency: number): Promise<void>
}

/** Steps of one conversation: answers of an instant model that call a tool which does nothing. */
export const STEPS = 10
