import { z } from 'zod'
import { id, jsonObject, limit, time } from './common.ts'

/** A person's answer to an approval. */
export const approvalAnswer = z.strictObject({
  approved: z.boolean(),
  /** Why it was denied; the model gets it. */
  reason: z.string().max(10_000).optional(),
  /** Changed arguments; for a mapped call, a list with the arguments of each item. */
  arguments: z.union([jsonObject, z.array(jsonObject.nullable())]).optional(),
  /** The result of the call, from elsewhere; the tool then does not run. */
  result: z.json().optional(),
})

/** Whether the call was approved. */
export const approved = z.object({ approved: z.boolean() })

/** `POST /api/conversations/:id/cancel`: only this run, and whether queued messages are deleted. Default: false. */
export const cancelAsk = z.strictObject({
  runId: id.optional(),
  discardQueued: z.boolean().optional(),
})

/** Whether there was something to cancel. */
export const cancelled = z.object({ cancelled: z.boolean() })

/** Whether the conversation was due. */
export const resumed = z.object({ resumed: z.boolean() })

/** `GET /api/conversations/:id/prompts/:messageId` */
export const promptQuery = z.strictObject({
  /** The answer to compare with. Default: the previous one. */
  against: id.optional(),
})

/** The difference between two prompts, by messages in the AI SDK's form. */
export const promptDifference = z.object({
  /** The answer of the other prompt. */
  messageId: z.string(),
  /** Number of equal messages at the beginning, which a provider can cache. */
  kept: z.int(),
  /** Messages of the other prompt after that. */
  removed: z.array(z.unknown()),
  /** Messages of this prompt after that. */
  added: z.array(z.unknown()),
})

/** The prompt of an answer. Bodies are replaced by their digests, as in debug data. */
export const promptAnswer = z.object({
  messageId: z.string(),
  model: z.unknown(),
  prompt: z.array(z.unknown()),
  tools: z.array(z.unknown()),
  /** The tools that were not in the prompt, because the model finds them by search. Null if there are none. */
  deferred: z
    .object({
      tools: z.int(),
      bytes: z.int().describe('The length of their schemas as JSON, in UTF-8 bytes.'),
    })
    .nullable(),
  /** The difference to the prompt of another answer; null for the first answer. */
  difference: promptDifference.nullable(),
})

/** Whether a run is open, waits for an approval, or how it ended. */
const status = z.enum(['running', 'waiting', 'finished', 'failed', 'cancelled'])

const least = z.coerce.number().min(0).optional()
const name = z.string().max(1000).optional()

/** Which runs: each parameter that is set must match. */
const filter = {
  agent: name,
  model: name,
  status: status.optional(),
  /** Whether the run failed, or the code of its error. */
  error: z
    .union([z.stringbool({ truthy: ['true'], falsy: ['false'] }), z.string().max(1000)])
    .optional(),
  /** The name of a tool that it called. */
  tool: name,
  /** US dollars. */
  minCost: least,
  /** Input and output tokens together. */
  minTokens: least,
  minDurationMs: least,
  /** ISO 8601. */
  since: time.optional(),
  until: time.optional(),
  conversation: id.optional(),
}

/** `GET /api/runs` */
export const runsQuery = z.strictObject({
  ...filter,
  limit: limit(500, 50),
  /** `next` of the page before. */
  cursor: z.string().optional(),
})

/** One line of the list of runs. */
export const runSummary = z
  .object({
    runId: z.string(),
    conversation: z.string(),
    /** The title of the conversation. */
    title: z.string().nullable(),
    parentRunId: z.string().nullable().describe('For a sub-agent: the run that called it.'),
    agent: z.string().nullable(),
    models: z.array(z.string()).readonly(),
    startedAt: time,
    finishedAt: time.nullable(),
    status,
    reason: z.string().nullable().describe('Why a finished or cancelled run ended.'),
    error: z.string().nullable().describe('The error code of a failed run.'),
    steps: z.int(),
    calls: z.int(),
    failedCalls: z.int(),
    /** The names of the tools that were called. */
    tools: z.array(z.string()).readonly(),
    inputTokens: z.number().nullable(),
    cachedInputTokens: z.number().nullable(),
    outputTokens: z.number().nullable(),
    cost: z.number().nullable().describe('US dollars; null if no price is known.'),
  })
  .meta({ id: 'Run' })

/** A page of runs, newest first; `next` is the cursor of the next one, null at the end. */
export const runsPage = z.object({ runs: z.array(runSummary), next: z.string().nullable() })

/** `GET /api/costs` */
export const costsQuery = z.strictObject({
  ...filter,
  by: z.enum(['hour', 'day', 'month']).optional(),
  /** An IANA name such as Europe/Berlin. Default: UTC. */
  timeZone: z.string().max(100).optional(),
  group: z.enum(['model', 'agent']).optional(),
})

/** What runs cost together. */
export const costSum = z
  .object({
    period: z.string().nullable().describe('A month, a day, or the start of an hour.'),
    group: z.string().nullable().describe('The model or the agent.'),
    runs: z.int(),
    failedRuns: z.int(),
    inputTokens: z.number(),
    cachedInputTokens: z.number(),
    outputTokens: z.number(),
    cost: z.number().nullable().describe('US dollars; null if no price is known.'),
    unpricedRuns: z.int().describe('Runs that used tokens of a model whose price is unknown.'),
  })
  .meta({ id: 'Cost' })

/** Sums, oldest period first. */
export const costsAnswer = z.object({ costs: z.array(costSum) })
