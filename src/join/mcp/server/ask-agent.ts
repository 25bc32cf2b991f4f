import type {
  CallToolResult,
  InputRequiredResult,
  RequestStateCodec,
  ServerContext,
} from '@modelcontextprotocol/server'
import type { Agent } from '../../../agent/agent-contract.ts'
import type { Run } from '../../../agent/follow-run.ts'
import type { ConversationEvent } from '../../../content/events.ts'

/** What an agent is asked by MCP, as JSON Schema. */
export const QUESTION = {
  type: 'object',
  properties: {
    message: { type: 'string' },
    attachments: { type: 'array', items: { type: 'string' }, description: 'References, asset://…' },
    conversation: { type: 'string', description: 'Goes on with this one' },
  },
  required: ['message'],
} as const

/** As {@link QUESTION} says. */
export interface Question {
  message: string
  attachments?: string[]
  conversation?: string
}

/** What goes to the client and back while its person is asked. */
interface Asked {
  conversation: string
  /** The calls that were answered, and the one that is asked about. */
  answered: string[]
  call: string
}

/** How an agent is asked. */
interface AskOptions {
  context: ServerContext
  /** Whether the client asks its person (`elicitation`). */
  canAsk: boolean
  mint: RequestStateCodec['mint']
}

/** More assets are not linked; `resources/list` has them. */
const LINKS = 20

/**
 * Asks the agent, tells of its calls as progress, and gives its answer with links to the assets that it made. Where a call waits
 * for a person, the client's is asked; where the client cannot ask, the answer says so, and the run waits.
 */
export async function askAgent(
  agent: Agent,
  { message, attachments = [], conversation }: Question,
  { context, canAsk, mint }: AskOptions,
): Promise<CallToolResult | InputRequiredResult> {
  const { mcpReq } = context
  const asked = mcpReq.requestState<Asked>()
  const metadata = { attachments: attachments.map((assetRef) => ({ assetRef })) }
  const run = asked
    ? await answered(agent, asked, mcpReq.inputResponses)
    : agent.run({ conversation, messages: [{ role: 'user', content: message, metadata }] })
  // It also aborts with the end of a request that asked the person.
  const over = new AbortController()
  mcpReq.signal.addEventListener('abort', () => run.cancel(), { signal: over.signal })
  const done = new Set(asked?.answered)
  let progress = 0
  try {
    for await (const event of run) {
      if (event.type === 'APPROVAL_REQUESTED' && !done.has(event.toolCallId)) {
        if (!canAsk) return waiting(run, event)
        const { conversation: of } = run
        const state: Asked = { conversation: of, answered: [...done], call: event.toolCallId }
        return question(inWords(run, event), await mint(state, context))
      }
      const progressToken = mcpReq._meta?.progressToken
      if (event.type !== 'TOOL_CALL_END' || progressToken === undefined) continue
      const params = { progressToken, progress: ++progress, message: event.call.name }
      await mcpReq.notify({ method: 'notifications/progress', params })
    }
    return await answerOf(run)
  } finally {
    over.abort()
  }
}

async function answered(
  agent: Agent,
  { conversation, answered: before, call }: Asked,
  responses: Record<string, unknown> = {},
): Promise<Run> {
  const { action, content } = Object(responses.approve)
  const approved = action === 'accept' && Object(content).approve === true
  await agent.approve(conversation, call, { approved })
  before.push(call)
  return agent.resume(conversation) as Run
}

type Request = Extract<ConversationEvent, { type: 'APPROVAL_REQUESTED' }>

function question(message: string, requestState: string): InputRequiredResult {
  const requestedSchema = {
    type: 'object' as const,
    properties: { approve: { type: 'boolean' as const, title: 'Approve' } },
    required: ['approve'],
  }
  const approve = { method: 'elicitation/create' as const, params: { message, requestedSchema } }
  return { resultType: 'input_required', inputRequests: { approve }, requestState }
}

function waiting(run: Run, request: Request): CallToolResult {
  const text = `${inWords(run, request)} It waits for a person in conversation ${run.conversation}; ask there again when it is approved.`
  return { content: [{ type: 'text', text }] }
}

function inWords(run: Run, { toolCallId, arguments: args }: Request): string {
  const calls = run.messages.flatMap(({ metadata }) => metadata.tool_calls ?? [])
  const name = calls.find(({ id }) => id === toolCallId)?.name ?? 'a tool'
  return `Run ${name} with ${JSON.stringify(args).slice(0, 2_000)}?`
}

async function answerOf(run: Run): Promise<CallToolResult> {
  const { text, assets, conversation } = await run.result
  const links = assets.slice(-LINKS).map(({ ref, mime, name, size }) => {
    const about = { mimeType: mime, ...(size === null ? {} : { size }) }
    return { type: 'resource_link' as const, uri: ref, name: name ?? ref, ...about }
  })
  return {
    content: [{ type: 'text', text }, ...links],
    _meta: { 'byref/conversation': conversation },
  }
}
