/** Runs a statement in the transaction of an append: `$1` stands for the first value; rows are objects by column. */
export type TransactionQuery = (
  text: string,
  values: readonly unknown[],
) => Promise<{ rows: Record<string, unknown>[] }>

/** A conversation that somebody is to go on with. */
export interface DueConversation {
  conversation: string
  namespace: string | null
  /** The name of the agent that it waits for; null for one without a name. */
  agent: string | null
}

/** Says which conversations are to be advanced, and nothing more: that they are due, and what is due, is in the log. */
export interface ConversationQueue {
  /** Enqueues within the transaction that made the conversation due; once for one that waits in the queue already. */
  enqueue(query: TransactionQuery, due: DueConversation): Promise<void>
}
