import type { Agent } from '../../agent/agent-contract.ts'
import { openRun } from '../../content/conversation-state.ts'
import { followConversation } from '../serving/follow-conversation.ts'
import { createOutput } from './output.ts'
import { noResponse, parseResponseId, responseOf } from './response.ts'

/**
 * A response as the log has it.
 *
 * @throws ByrefError `conversation_not_found`
 */
export async function keptResponse(agent: Agent, id: string): Promise<object> {
  const { conversation, after } = parseResponseId(id)
  const end = (await agent.log.find(conversation))?.position ?? 0
  if (end < after) throw noResponse(id)
  const followed = await followConversation(agent, conversation, after)
  try {
    const { state } = followed
    const own = new Set(agent.tools.map((tool) => tool.id))
    const output = createOutput((name) => !own.has(name), state)
    const runId = openRun(state)?.runId
    const itsRun = () => state.runs.find((one) => one.runId === runId)
    let [hasAnswered, isWaiting] = [false, false]
    for await (const { event, position = 0 } of end > after ? followed : []) {
      if (hasAnswered && isWaiting && event.type === 'APPROVAL_ANSWERED') break
      output.take(event)
      hasAnswered ||= event.type === 'STEP_FINISHED'
      isWaiting = followed.waiting() !== null
      if (itsRun()?.status !== 'running' || position >= end) break
    }
    return responseOf({ id, request: {}, output, run: itsRun(), isWaiting })
  } finally {
    followed.close()
  }
}
