import type { Agent } from '../agent/agent-contract.ts'
import { ByrefError } from '../core/errors.ts'
import type { ConversationLog, ConversationSummary } from '../log/conversation-log.ts'

/** The conversation that a request is about. */
export interface FoundConversation {
  id: string
  summary: ConversationSummary
  /** The log that it is in. */
  log: ConversationLog
  /**
   * Who answers in it: the agent of this name, else the one that has answered or is waited for, else the first.
   *
   * @throws ByrefError `agent_not_found`; `conversation_busy` where another one is at it
   */
  agent(name?: string): Agent
}

/** Finds a conversation of a log. Throws `conversation_not_found`, for one of another namespace too. */
export async function foundConversation(
  log: ConversationLog,
  id: string,
  agentOf: (names: { asked?: string; before?: string }) => Agent,
): Promise<FoundConversation> {
  const summary = await log.find(id)
  if (!summary) {
    throw new ByrefError('conversation_not_found', `There is no conversation "${id}"`)
  }
  const before = summary.agent ?? undefined
  return {
    id,
    summary,
    log,
    agent(asked) {
      const isUnderWay = summary.openRun !== null || summary.queued > 0
      if (isUnderWay && before !== undefined && (asked ?? before) !== before) {
        throw new ByrefError(
          'conversation_busy',
          `The agent "${before}" is at it in the conversation "${id}": wait for its end, or cancel its run`,
        )
      }
      return agentOf({ asked, before })
    },
  }
}
