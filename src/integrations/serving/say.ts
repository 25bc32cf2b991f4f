import type { Agent } from '../../agent/agent-contract.ts'
import type { ApprovalAnswer } from '../../agent/approve.ts'
import type { RunState } from '../../core/events/conversation-state.ts'
import type { MessageInput } from '../../core/messages/to-message.ts'

type HowToAnswer = Pick<Parameters<Agent['start']>[0], 'context' | 'settings' | 'output'>

/** The content of a request: messages, and answers to waiting calls by their ids. */
export interface Said {
  messages: MessageInput[]
  answers: Map<string, ApprovalAnswer>
}

/**
 * Sends messages and answers to a conversation. An open run gets them in its next step. Otherwise a new run starts, as
 * the options say. Resolves to the id of the run.
 */
export async function say(
  agent: Agent,
  conversation: string,
  { messages, answers, open, ...ask }: Said & { open: RunState | null } & HowToAnswer,
): Promise<string> {
  if (!open) {
    const run = await agent.start({ conversation, messages, ...ask, ifBusy: 'refuse' })
    run.result.catch(() => {})
    return run.id
  }
  if (messages.length > 0) await agent.send(conversation, messages, { mode: 'steer' })
  for (const [id, answer] of answers) await agent.approve(conversation, id, answer)
  // Continue the run here, in case no process works on it.
  agent.resume(conversation).result.catch(() => {})
  return open.runId
}
