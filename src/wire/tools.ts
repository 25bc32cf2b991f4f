import { z } from 'zod'
import { jsonObject } from './common.ts'

/** `GET /api/tools` */
export const toolsQuery = z.strictObject({
  /** The name of the agent. Default: the first. */
  agent: z.string().max(1000).optional(),
  /** Only tools that `search_tools` finds by these words, best first. */
  query: z.string().max(10_000).optional(),
  group: z.string().max(1000).optional(),
})

/** `GET /api/tools/:name` */
export const toolQuery = toolsQuery.pick({ agent: true })

/** A tool in a list. */
export const toolLine = z.object({
  name: z.string(),
  /** The first 300 characters. */
  description: z.string(),
  group: z.string().nullable().describe('Its group in search_tools; null if it is not searched.'),
  bytes: z.int().describe('The length of its schema as JSON, in UTF-8 bytes.'),
  readOnly: z.boolean(),
  needsApproval: z
    .enum(['always', 'sometimes', 'never'])
    .describe('Which of its calls a person must approve. Policies may ask, too.'),
  shown: z
    .enum(['always', 'pinned', 'later', 'search'])
    .describe(
      'When prompts have it: always (pinned although others are searched), once a result is an asset, or never, because the model finds it by search.',
    ),
  words: z
    .array(z.string())
    .nullable()
    .describe('The words of the query that it has. Null without a query.'),
})

/** The tools of an agent, or those that a search finds. */
export const toolsAnswer = z
  .object({
    tools: z.array(toolLine),
    search: z
      .object({
        returned: z
          .int()
          .describe('Number of tools that a model gets if it does not ask for more.'),
        words: z
          .array(z.object({ word: z.string(), tools: z.int() }))
          .describe('The words that are searched for, and how many tools have each.'),
      })
      .nullable()
      .describe('Null without a query.'),
  })
  .meta({ id: 'Tools' })

/** A tool with its whole description and its parameters. */
export const toolAnswer = toolLine
  .omit({ words: true })
  .extend({ parameters: jsonObject.describe('A JSON Schema.') })
  .meta({ id: 'Tool' })
