import type { Agent } from '../../agent/agent-contract.ts'
import type { ApprovalAnswer } from '../../agent/approve.ts'
import type { RunState } from '../../core/events/conversation-state.ts'
import type { MessageInput } from '../../core/messages/to-message.ts'

type HowToAnswer = Pick<Parameters<Agent['start']>[0], 'context' | 'settings' | 'output'>

/** What a request says: messages, and answers to calls that wait, by their ids. */
export interface Said {
  messages: MessageInput[]
  answers: Map<string, ApprovalAnswer>
}

/**
 * Says it in a conversation: in the run that is open, whose next step hears of it, or in a run of its own, which answers as
 * it is asked to. Resolves to the id of that run.
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
  // Where nobody works on it, this process does.
  agent.resume(conversation).result.catch(() => {})
  return open.runId
}
