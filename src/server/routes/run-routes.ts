import { isDeepStrictEqual } from 'node:util'
import type { z } from 'zod'
import type { Agent } from '../../agent/agent-contract.ts'
import { readState } from '../../agent/read-conversation.ts'
import { ByrefError } from '../../core/errors.ts'
import * as wire from '../../wire/runs.ts'
import { publicRun } from '../public-info.ts'
import { type Route, route } from '../route.ts'

const PATH = '/api/conversations/:id'

/** Runs: cancel, resume, answer an approval, prompts of the model, lists of runs, and what they cost. */
export const runRoutes: readonly Route[] = [
  route(
    `POST ${PATH}/cancel`,
    {
      role: 'member',
      summary: 'Cancel the run, and delete queued messages if asked to',
      body: wire.cancelAsk,
      answers: { 200: wire.cancelled },
    },
    async ({ body, conversation, json }) => {
      const { id, actingAgent } = await conversation()
      return json({ cancelled: await actingAgent().cancel(id, body) })
    },
  ),
  route(
    `POST ${PATH}/resume`,
    {
      role: 'member',
      summary: 'Resume a run whose process ended',
      answers: { 202: wire.resumed },
    },
    async ({ conversation, json }) => {
      const { id, summary, agentOf } = await conversation()
      const isDue = summary.openRun !== null || summary.queued > 0
      if (isDue) agentOf().resume(id)
      return json({ resumed: isDue }, 202)
    },
  ),
  route(
    `POST ${PATH}/calls/:callId/approval`,
    {
      role: 'member',
      summary: 'Approve or deny a call that waits for approval',
      body: wire.approvalAnswer,
      answers: { 202: wire.approved },
      errors: ['call_not_found', 'approval_answered', 'invalid_arguments', 'tool_not_found'],
    },
    async ({ body, caller, param, conversation, json }) => {
      const { id, actingAgent } = await conversation()
      await actingAgent().approve(id, param('callId'), { ...body, by: caller.subject })
      return json({ approved: body.approved }, 202)
    },
  ),
  route(
    `GET ${PATH}/prompts/:messageId`,
    {
      role: 'member',
      summary: 'The prompt of an answer, and its difference from the previous one',
      query: wire.promptQuery,
      answers: { 200: wire.promptAnswer },
      errors: ['message_not_found'],
    },
    async ({ query, param, conversation, json }) => {
      const { id, anyAgent, readingOf } = await conversation()
      const messageId = param('messageId')
      const agent = anyAgent()
      const reading = await readingOf()
      reading?.need(reading.shownTo(messageId), 'The prompt')
      const prompt = await promptOf(agent, id, messageId)
      const other = query.against ?? (await answerBefore(agent, id, messageId))
      if (other === null) return json({ ...prompt, difference: null })
      reading?.need(reading.shownTo(other), 'The prompt before')
      const difference = differenceOf(await promptOf(agent, id, other), prompt)
      return json({ ...prompt, difference })
    },
  ),
  route(
    'GET /api/runs',
    {
      role: 'reader',
      summary: 'Runs of all conversations by pages, newest first',
      query: wire.runsQuery,
      answers: { 200: wire.runsPage },
    },
    async ({ query, reader, agent, json }) => {
      const { log } = agent()
      const { runs, next } = await log.runs(query)
      const shown = await Array.fromAsync(runs, async (run) => {
        // Like the list of conversations: without titles that the caller may not read.
        const about = { id: run.conversation, title: run.title }
        const { title } = (await reader?.summary(log, about)) ?? about
        return publicRun({ ...run, title })
      })
      return json({ runs: shown, next })
    },
  ),
  route(
    'GET /api/costs',
    {
      role: 'reader',
      summary: 'What runs cost, by period and by model or agent',
      query: wire.costsQuery,
      answers: { 200: wire.costsAnswer },
    },
    async ({ query, agent, json }) => json({ costs: await agent().log.costs(query) }),
  ),
]

type Prompt = Omit<z.infer<typeof wire.promptAnswer>, 'difference'>

/** @throws ByrefError `message_not_found` for a message that no model wrote */
async function promptOf(
  { debug }: Agent,
  conversation: string,
  messageId: string,
): Promise<Prompt> {
  const { request } = Object(await debug(conversation, messageId))
  if (!Array.isArray(request?.prompt)) {
    throw new ByrefError('message_not_found', `There is no prompt for the message "${messageId}"`)
  }
  const { model, prompt, tools = [], deferred = null } = request
  return { messageId, model, prompt, tools, deferred }
}

/** Returns the last answer of a model before this one that was not deleted; null for the first. */
async function answerBefore({ log }: Agent, conversation: string, messageId: string) {
  const { runs } = await readState(log, conversation)
  const steps = runs.flatMap((run) => run.steps).filter(({ commandIds }) => !commandIds)
  const place = steps.findIndex((step) => step.messageId === messageId)
  const deleted = new Set(await log.deleted(conversation))
  const before = steps.slice(0, Math.max(0, place)).findLast((step) => !deleted.has(step.messageId))
  return before?.messageId ?? null
}

function differenceOf(
  before: Prompt,
  now: Prompt,
): z.infer<typeof wire.promptAnswer>['difference'] {
  const changed = before.prompt.findIndex((one, i) => !isDeepStrictEqual(one, now.prompt[i]))
  const kept = changed < 0 ? before.prompt.length : changed
  return {
    messageId: before.messageId,
    kept,
    removed: before.prompt.slice(kept),
    added: now.prompt.slice(kept),
  }
}
