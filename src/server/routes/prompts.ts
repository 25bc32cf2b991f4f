import { isDeepStrictEqual } from 'node:util'
import type { z } from 'zod'
import type { Agent } from '../../agent/agent-contract.ts'
import { ByrefError } from '../../core/errors.ts'
import { promptAnswer, promptQuery } from '../../wire/prompts.ts'
import { type Route, route } from '../route.ts'
import { stateOf } from './data.ts'

type Prompt = Omit<z.infer<typeof promptAnswer>, 'difference'>

/** Prompts: what the model was given for each answer, and what changed between two. */
export function promptRoutes(): Route[] {
  return [
    route(
      {
        method: 'get',
        path: '/api/conversations/:id/prompts/:messageId',
        summary: 'What the model was given for an answer, and what is new in it',
        role: 'member',
        query: promptQuery,
        answers: { 200: promptAnswer },
        errors: ['conversation_not_found', 'message_not_found', 'forbidden'],
      },
      async ({ query, reader, param, conversation, json }) => {
        const { id, log, agent } = await conversation()
        const its = agent()
        const reading = await reader?.conversation(log, id)
        reading?.need(reading.shownTo(param('messageId')), 'The prompt')
        const prompt = await promptOf(its, id, param('messageId'))
        const other = query.against ?? (await answerBefore(its, id, param('messageId')))
        if (other) reading?.need(reading.shownTo(other), 'The prompt before')
        const difference = other ? between(await promptOf(its, id, other), prompt) : null
        return json({ ...prompt, difference })
      },
    ),
  ]
}

/** Throws `message_not_found` for a message that no step wrote. */
async function promptOf(
  { debug }: Agent,
  conversation: string,
  messageId: string,
): Promise<Prompt> {
  const { request } = Object(await debug(conversation, messageId)) as {
    request?: { model: unknown; prompt?: unknown; tools?: unknown[] }
  }
  if (!Array.isArray(request?.prompt)) {
    throw new ByrefError('message_not_found', `No model was asked for the message "${messageId}"`)
  }
  const { model, prompt, tools = [] } = request
  return { messageId, model, prompt, tools }
}

/** The last answer of a model before this one that was not deleted; null for the first. */
async function answerBefore({ log }: Agent, conversation: string, messageId: string) {
  const { runs } = await stateOf(log, conversation)
  const steps = runs.flatMap((run) => run.steps).filter(({ commandIds }) => !commandIds)
  const place = steps.findIndex((step) => step.messageId === messageId)
  const deleted = new Set(await log.deleted(conversation))
  const before = steps.slice(0, Math.max(0, place)).findLast((step) => !deleted.has(step.messageId))
  return before?.messageId ?? null
}

function between(before: Prompt, now: Prompt): z.infer<typeof promptAnswer>['difference'] {
  const changed = before.prompt.findIndex((one, i) => !isDeepStrictEqual(one, now.prompt[i]))
  const kept = changed < 0 ? before.prompt.length : changed
  return {
    messageId: before.messageId,
    kept,
    removed: before.prompt.slice(kept),
    added: now.prompt.slice(kept),
  }
}
