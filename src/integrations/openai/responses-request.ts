import { z } from 'zod'

const part = z.looseObject({ type: z.string() })

const message = z.looseObject({
  type: z.literal('message').optional(),
  role: z.enum(['user', 'assistant', 'system', 'developer']),
  content: z.union([z.string(), z.array(part)]),
})

const call = z.looseObject({
  type: z.literal('function_call'),
  call_id: z.string(),
  name: z.string(),
  arguments: z.string(),
})

const output = z.looseObject({
  type: z.literal('function_call_output'),
  call_id: z.string(),
  output: z.union([z.string(), z.array(part)]),
})

const approval = z.looseObject({
  type: z.literal('mcp_approval_response'),
  approval_request_id: z.string(),
  approve: z.boolean(),
  reason: z.string().nullish(),
})

const READ = new Map<unknown, z.ZodType>([
  ['message', message],
  ['function_call', call],
  ['function_call_output', output],
  ['mcp_approval_response', approval],
])

/** The items of `input`. Clients also send earlier outputs again; those are ignored. */
const item = z.union(
  [
    message,
    call,
    output,
    approval,
    z.looseObject({
      type: z.enum(['reasoning', 'mcp_call', 'mcp_approval_request', 'mcp_list_tools']),
    }),
  ],
  { error: ({ input }) => itemProblem(input) },
)

/** Returns what is wrong with an item. Clients send references to items, because responses say that they are stored. */
function itemProblem(given: unknown): string {
  const { type = 'message', id } = Object(given)
  const [issue] = READ.get(type)?.safeParse(given).error?.issues ?? []
  if (issue) return `${issue.path.join('.')}: ${issue.message}`
  if (type !== 'item_reference') return `The items of type "${type}" are not supported`
  return `The item_reference to "${id}" is not supported. Continue with previous_response_id, or set store: false in the client, so that it sends the item itself`
}

const tool = z.looseObject({
  type: z.literal('function', {
    error: 'only function tools are supported; the agent has its own tools',
  }),
  name: z.string(),
  description: z.string().nullish(),
  parameters: z.record(z.string(), z.unknown()).nullish(),
})

const number = z.number().nullish()

/** Rejects a parameter that would have no effect. */
const unsupported = (instead: string) =>
  z.null({ error: `is not supported: ${instead}` }).optional()

/** The used part of `POST /v1/responses`. Other fields are echoed or ignored. */
export const responsesRequest = z.looseObject({
  model: z.string().default('byref'),
  input: z.preprocess(
    (given) => (typeof given === 'string' ? [{ role: 'user', content: given }] : given),
    z.array(item).default([]),
  ),
  instructions: z.string().nullish(),
  previous_response_id: z.string().nullish(),
  conversation: unsupported('continue with previous_response_id'),
  prompt: unsupported('send instructions and input'),
  stream: z.boolean().nullish(),
  background: z.boolean().nullish(),
  tools: z.array(tool).nullish(),
  tool_choice: z
    .literal('auto', { error: 'is not supported, except "auto": the agent chooses its calls' })
    .nullish(),
  temperature: number,
  top_p: number,
  max_output_tokens: number,
  metadata: z.record(z.string(), z.string()).nullish(),
  text: z
    .looseObject({
      format: z
        .looseObject({ type: z.string(), schema: z.record(z.string(), z.unknown()).optional() })
        .optional(),
    })
    .nullish(),
})

export type ResponsesRequest = z.infer<typeof responsesRequest>
export type MessageItem = z.infer<typeof message>
export type Part = z.infer<typeof part>
