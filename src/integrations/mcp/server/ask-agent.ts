import type {
  CallToolResult,
  InputRequiredResult,
  RequestStateCodec,
  ServerContext,
} from '@modelcontextprotocol/server'
import type { Agent } from '../../../agent/agent-contract.ts'
import type { EventOf } from '../../../core/events/events.ts'
import {
  type LabelInput,
  mayRead,
  readLabel,
  TRUSTED,
  UNTRUSTED,
  writeLabel,
} from '../../../core/labels/label.ts'
import { type Speaker, spokenBy } from '../../../core/messages/spoken-by.ts'
import type { Run } from '../../../engine/follow-run.ts'
import { approvalReasons, violationTexts } from '../../../policies/trust/check-flow.ts'
import { approvalQuestion, approvalRequest, isApproved } from '../ask-person.ts'
import { labelMeta, stricterByMeta } from '../mcp-labels.ts'
import type { ServedLabels } from './served-labels.ts'

/** The input of the tool that asks an agent, as JSON Schema. */
export const QUESTION = {
  type: 'object',
  properties: {
    message: { type: 'string' },
    attachments: { type: 'array', items: { type: 'string' }, description: 'References, asset://…' },
    conversation: { type: 'string', description: 'Continues this conversation' },
  },
  required: ['message'],
} as const

/** The input that {@link QUESTION} describes. */
export interface Question {
  message: string
  attachments?: string[]
  conversation?: string
}

/** The state that the client sends back after asking its person. */
interface Asked {
  conversation: string
  /** The calls that were answered before. */
  answered: string[]
  /** The call that the question is about. */
  call: string
  /** Whether the run is an earlier one, after which the message is sent. */
  isEarlier: boolean
}

/** Options of a question to an agent. */
interface AskOptions {
  context: ServerContext
  /** Whether the client can ask its person (`elicitation`). */
  canAsk: boolean
  mint: RequestStateCodec['mint']
  served: ServedLabels
  sender: Sender
}

/** The sender of a question. */
export interface Sender {
  /** The sender's name in labels. Null if labels do not name the sender. */
  reader: string | null
  /** Whether the sender's messages are trusted. */
  callers: 'trusted' | 'untrusted'
}

/** Maximum number of linked assets. `resources/list` has the rest. */
const LINKS = 20

/** Maximum time for a person's answer during a call, in milliseconds. */
const PERSON_MS = 10 * 60_000

/**
 * Asks the agent, reports its calls as progress, and returns its answer with links to the assets that it made. If a
 * call waits for approval, the client asks its person. If the client cannot ask, the answer says so, and the run waits.
 * A message to a conversation with a waiting call is sent when that run has ended.
 */
export async function askAgent(
  agent: Agent,
  { message, attachments = [], conversation }: Question,
  options: AskOptions,
): Promise<CallToolResult | InputRequiredResult> {
  const { context, served, sender } = options
  const { mcpReq } = context
  const asked = mcpReq.requestState<Asked>()
  const metadata = { attachments: attachments.map((assetRef) => ({ assetRef })) }
  const send = (): Run =>
    agent.run({
      conversation,
      messages: [spokenBy({ content: message, metadata }, speakerOf(sender))],
      label: labelOfCall(mcpReq._meta, sender),
    })
  const found = conversation && !asked ? await agent.log.find(conversation) : null
  const earlier = found?.status === 'waiting' ? (agent.resume(found.id) as Run) : null
  let isEarlier = asked ? asked.isEarlier : earlier !== null
  const answer = mcpReq.inputResponses?.approve
  if (asked) await approveCall(agent, asked, { answer, by: sender.reader })
  let run = asked ? (agent.resume(asked.conversation) as Run) : (earlier ?? send())
  // Also aborts when the request that asked the person ends.
  const over = new AbortController()
  mcpReq.signal.addEventListener('abort', () => run.cancel(), { signal: over.signal })
  if (mcpReq.signal.aborted) run.cancel()
  const done = new Set(asked ? [...asked.answered, asked.call] : [])
  const progress = { count: 0 }
  try {
    while (true) {
      const question = await follow(agent, run, { ...options, done, isEarlier, progress })
      if (question) return question
      if (!isEarlier || mcpReq.signal.aborted) break
      isEarlier = false
      run = send()
    }
    return await answerOf(agent, run, { served, reader: sender.reader })
  } finally {
    over.abort()
  }
}

/** What {@link follow} knows of the earlier rounds of a question. */
interface Following extends AskOptions {
  /** The calls that were answered. */
  done: Set<string>
  isEarlier: boolean
  progress: { count: number }
}

/** Follows a run to its end. Returns a result if the run waits for a person before. */
async function follow(
  agent: Agent,
  run: Run,
  { context, canAsk, mint, sender, done, isEarlier, progress }: Following,
): Promise<CallToolResult | InputRequiredResult | null> {
  const { mcpReq } = context
  for await (const event of run) {
    if (event.type === 'APPROVAL_REQUESTED' && !done.has(event.toolCallId)) {
      if (!canAsk || !isFor(event, sender)) return waiting(run, event, sender)
      const { toolCallId: call } = event
      const { conversation } = run
      const approve = approvalRequest(inWords(event, sender))
      if (mcpReq.envelope) {
        const state: Asked = { conversation, answered: [...done], call, isEarlier }
        const requestState = await mint(state, context)
        return { resultType: 'input_required', inputRequests: { approve }, requestState }
      }
      // Older clients are asked during the call. If one cannot show the question, the run waits.
      const { signal } = mcpReq
      const asking = mcpReq.elicitInput(approve.params, { signal, timeout: PERSON_MS })
      const answer = await asking.catch(() => null)
      if (!answer) return waiting(run, event, sender)
      await approveCall(agent, { conversation, call }, { answer, by: sender.reader })
      done.add(call)
    }
    const progressToken = mcpReq._meta?.progressToken
    if (event.type !== 'TOOL_CALL_END' || progressToken === undefined) continue
    const params = { progressToken, progress: ++progress.count, message: event.call.name }
    await mcpReq.notify({ method: 'notifications/progress', params })
  }
  return null
}

/** Returns the speaker of a question. The sender cannot speak for anybody else. */
function speakerOf({ reader }: Sender): Speaker {
  if (reader === null) return { speaksAsOthers: false }
  const sender = { participant_id: reader, participant_role: 'user' }
  return { sender, speaksAsOthers: false }
}

/** Approves or rejects the call that a question is about. */
function approveCall(
  agent: Agent,
  { conversation, call }: Pick<Asked, 'conversation' | 'call'>,
  { answer, by }: { answer: unknown; by: string | null },
): Promise<void> {
  const approved = isApproved(answer)
  return agent.approve(conversation, call, { approved, by: by ?? undefined })
}

type Request = EventOf<'APPROVAL_REQUESTED'>

/** Returns the stricter of the label that the call declares and the label of its sender. */
function labelOfCall(meta: unknown, { callers }: Sender): LabelInput {
  return writeLabel(stricterByMeta(callers === 'trusted' ? TRUSTED : UNTRUSTED, meta))
}

/** Returns whether the sender may read everything that the call would be given. */
function isFor({ label }: Request, { reader }: Sender): boolean {
  return label === undefined || mayRead(reader, readLabel(label))
}

function waiting(run: Run, request: Request, sender: Sender): CallToolResult {
  const text = `${inWords(request, sender)} It waits for a person in conversation ${run.conversation}; ask there again when it is approved.`
  return { content: [{ type: 'text', text }], _meta: namedBy(run.conversation) }
}

function inWords(request: Request, sender: Sender): string {
  const { toolName, arguments: args, violations = [], previews = [] } = request
  const isShown = isFor(request, sender)
  const given = isShown ? Object(args) : 'what others may read'
  const reasons = isShown ? approvalReasons(request) : violationTexts(violations, new Set())
  const question = approvalQuestion(toolName, given, reasons)
  const diffs = isShown ? previews.flatMap((one) => one ?? []).map((one) => `\n\n${one}`) : []
  return `${question}${diffs.join('')}`
}

/** Returns the `_meta` with which a result names its conversation. */
function namedBy(conversation: string) {
  return { 'byref/conversation': conversation }
}

async function answerOf(
  agent: Agent,
  run: Run,
  { served, reader }: { served: ServedLabels; reader: string | null },
): Promise<CallToolResult> {
  const { text, assets, conversation } = await run.result
  const labels = await served.conversation(agent, conversation)
  const overall = labels?.answer ?? null
  const _meta = { ...namedBy(conversation), ...(overall ? labelMeta(overall) : {}) }
  if (overall && !mayRead(reader, overall)) {
    const words = 'forbidden: only others may read the answer'
    return { content: [{ type: 'text', text: words }], isError: true, _meta }
  }
  const links = assets.slice(-LINKS).flatMap(({ ref, assetId, mime, name, size }) => {
    const isOwn = labels?.assets.has(assetId)
    const label = isOwn ? labels?.values.asset({ id: assetId, fieldPath: [] }) : null
    if (label && !mayRead(reader, label)) return []
    const link = { type: 'resource_link' as const, uri: ref, name: name ?? ref, mimeType: mime }
    return { ...link, ...(size !== null && { size }), ...(label && { _meta: labelMeta(label) }) }
  })
  return { content: [{ type: 'text', text }, ...links], _meta }
}
