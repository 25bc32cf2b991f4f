import type { Agent } from '../../agent/agent-contract.ts'
import type { ApprovalAnswer } from '../../agent/approve.ts'
import type { MessageInput } from '../../content/to-message.ts'

/** What a request says: messages, and answers to calls that wait, by their ids. */
export interface Said {
  messages: MessageInput[]
  answers: Map<string, ApprovalAnswer>
}

/** Says something in a conversation whose run is open; words come with its next step. */
export async function sayDuringRun(
  agent: Agent,
  conversation: string,
  { messages, answers }: Said,
): Promise<void> {
  if (messages.length > 0) await agent.send(conversation, messages, { mode: 'steer' })
  for (const [id, answer] of answers) await agent.approve(conversation, id, answer)
  // Where nobody works on it, this process does.
  agent.resume(conversation).result.catch(() => {})
}
