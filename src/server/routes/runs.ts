import { approvalAnswer, approved, cancelled, resumed } from '../../wire/runs.ts'
import { type Route, route } from '../route.ts'

const PATH = '/api/conversations/:id'

/** Runs: stop, go on, answer about a call. */
export function runRoutes(): Route[] {
  return [
    route(
      {
        method: 'post',
        path: `${PATH}/cancel`,
        summary: 'Stop the run',
        role: 'member',
        answers: { 200: cancelled },
        errors: ['conversation_not_found'],
      },
      async ({ conversation, json }) => {
        const { id, agent } = await conversation()
        return json({ cancelled: await agent().cancel(id) })
      },
    ),
    route(
      {
        method: 'post',
        path: `${PATH}/resume`,
        summary: 'Go on with a run whose process is gone',
        role: 'member',
        answers: { 202: resumed },
        errors: ['conversation_not_found'],
      },
      async ({ conversation, json }) => {
        const { id, summary, agent } = await conversation()
        const isDue = summary.openRun !== null || summary.queued > 0
        if (isDue) agent().resume(id)
        return json({ resumed: isDue }, 202)
      },
    ),
    route(
      {
        method: 'post',
        path: `${PATH}/calls/:callId/approval`,
        summary: "A person's answer about a call that waits for one",
        role: 'member',
        body: approvalAnswer,
        answers: { 202: approved },
        errors: ['conversation_not_found', 'approval_answered', 'invalid_arguments', 'forbidden'],
      },
      async ({ body, caller, param, conversation, json }) => {
        const { id, agent } = await conversation()
        const answer = { ...body, by: caller.subject }
        await agent().approve(id, param('callId'), answer as never)
        return json({ approved: body.approved }, 202)
      },
    ),
  ]
}
