import type { RunAgentInput } from '@ag-ui/core'
import { RunAgentInputSchema } from '@ag-ui/core/schemas'
import type { Agent } from '../../agent/agent-contract.ts'
import { knownOptions } from '../../agent/known-options.ts'
import type { Tool } from '../../agent/tools/tool.ts'
import { openRun } from '../../content/conversation-state.ts'
import type { JsonValue } from '../../content/json.ts'
import { ByrefError, errorMessage } from '../../errors.ts'
import { agentsByTools } from '../serving/agents-by-tools.ts'
import { eventStream } from '../serving/event-stream.ts'
import { type FollowedConversation, followConversation } from '../serving/follow-conversation.ts'
import { type AgUiEvent, createAgUiEvents, jsonPatch, outcomeOf, usageOf } from './events.ts'
import { agUiMessages, type Brought, readInput, stateOf } from './messages.ts'

/** Options of {@link createAgUiHandler}. */
export interface AgUiOptions {
  /**
   * The agent; or, where the app brings tools of its own (frontend tools), what makes an agent with these beside its own, on
   * the same log and assets. It is asked once for each set of tools.
   */
  agent: Agent | ((tools: readonly Tool[]) => Agent)
  /**
   * The namespace of whoever sent a request; what throws there, or is a Response, is the answer. Default: the agent's own.
   * Threads are named by browsers: without a namespace everybody has all of them.
   */
  namespace?(request: Request): string | null | Response | Promise<string | null | Response>
  /** Whether a run goes on when its client hangs up, which is how `HttpAgent` aborts. Default false. */
  keepRunning?: boolean
}

/**
 * Serves an agent by AG-UI: a `POST` of a `RunAgentInput` is answered with the events of its run. A thread is a
 * conversation; of the messages that a client sends those count that it does not know. Calls that wait for people are
 * interrupts; calls of the app's own tools end the run until their results come. The board is the state.
 *
 * @throws ByrefError `config_invalid` for an option that there is not
 */
export function createAgUiHandler(options: AgUiOptions): (request: Request) => Promise<Response> {
  knownOptions('createAgUiHandler', options, ['agent', 'namespace', 'keepRunning'])
  const { agent: given, namespace = () => undefined, keepRunning = false } = options
  const agentFor = agentsByTools(given, 'createAgUiHandler')

  return async (request) => {
    try {
      const input = await inputOf(request)
      const space = await namespace(request)
      if (space instanceof Response) return space
      const agent = agentFor(
        input.tools.map(({ parameters, ...tool }) => ({ ...tool, inputSchema: parameters })),
      )
      const own = space === undefined ? agent : agent.scoped(space)
      return await answer(own, input, keepRunning)
    } catch (error) {
      if (!(error instanceof ByrefError)) throw error
      return Response.json({ code: error.code, message: error.message }, { status: 400 })
    }
  }
}

async function inputOf(request: Request): Promise<RunAgentInput> {
  const body = await request.json().catch(() => null)
  const { success, data, error } = RunAgentInputSchema.safeParse(body)
  if (success) return data as RunAgentInput
  const [issue] = error.issues
  throw new ByrefError(
    'bad_request',
    `The body is no RunAgentInput: ${issue?.path.join('.') || 'body'}: ${issue?.message}`,
  )
}

async function answer(agent: Agent, input: RunAgentInput, keepRunning: boolean): Promise<Response> {
  const { threadId } = input
  const followed = await followConversation(agent, threadId)
  try {
    const { state, board } = followed
    const brought = await readInput(input, { state, board, assets: agent.assets })
    const runId = await tell(agent, input, { brought, followed })
    const events = runEvents(input, { brought, followed, runId })
    return eventStream(framesOf(events), (isCut) => {
      followed.close()
      if (isCut && runId !== null && !keepRunning) agent.cancel(threadId).catch(() => {})
    })
  } catch (error) {
    followed.close()
    throw error
  }
}

interface Talk {
  brought: Brought
  followed: FollowedConversation
}

/** Says what the client brought; resolves to the run that answers, or null where nothing is asked. */
async function tell(
  agent: Agent,
  { threadId: conversation, forwardedProps }: RunAgentInput,
  { brought: { messages, answers }, followed }: Talk,
): Promise<string | null> {
  const open = openRun(followed.state)
  if (!open && messages.length > 0 && messages.some(isAsking)) {
    const context = forwardedProps as JsonValue | undefined
    const run = await agent.start({ conversation, messages, context, ifBusy: 'refuse' })
    run.result.catch(() => {})
    return run.id
  }
  // During a run, words come with its next step.
  if (open && messages.length > 0) await agent.send(conversation, messages, { mode: 'steer' })
  if (!open && messages.length > 0) await agent.add(conversation, messages)
  for (const [id, answer] of answers) await agent.approve(conversation, id, answer)
  // Where nobody works on it, this process does.
  if (open) agent.resume(conversation).result.catch(() => {})
  return open?.runId ?? null
}

/** Data and context alone ask for nothing. */
function isAsking(message: object): boolean {
  return !('type' in message && message.type === 'data')
}

async function* runEvents(
  { threadId, runId: id, tools, protocolVersion }: RunAgentInput,
  { brought, followed, runId }: Talk & { runId: string | null },
): AsyncGenerator<AgUiEvent> {
  const known = brought.messages.flatMap((one) => ('id' in one && one.id ? [one.id] : []))
  const translated = createAgUiEvents({ messages: new Set(known), results: brought.results })
  const clientTools = new Set(tools.map(({ name }) => name))
  const unanswered = new Set(brought.answers.keys())
  let state = stateOf(followed.board)
  const version = protocolVersion === undefined ? {} : { protocolVersion }
  yield { type: 'RUN_STARTED', threadId, runId: id, ...version }
  if (brought.messages.length === 0 && brought.answers.size === 0) {
    yield { type: 'MESSAGES_SNAPSHOT', messages: agUiMessages(followed.state.messages) }
  }
  yield { type: 'STATE_SNAPSHOT', snapshot: state }
  const finished = { type: 'RUN_FINISHED', threadId, runId: id }
  if (runId === null) return yield finished
  let waiting = brought.answers.size > 0 ? null : followed.waiting()
  for await (const { event } of waiting ? [] : followed) {
    if (event.type === 'APPROVAL_ANSWERED') unanswered.delete(event.toolCallId)
    yield* translated.take(event)
    const now = event.type === 'NEW_MESSAGE' ? stateOf(followed.board) : state
    const delta = jsonPatch(state, now)
    if (delta.length > 0) yield { type: 'STATE_DELTA', delta }
    state = now
    waiting = unanswered.size === 0 ? followed.waiting() : null
    if (waiting || followed.hasEnded(runId)) break
  }
  yield* translated.finish()
  const run = followed.state.runs.find((one) => one.runId === runId)
  if (!run)
    return yield { type: 'RUN_ERROR', code: 'conversation_not_found', message: 'It was deleted' }
  const usage = usageOf(run.usage, run.model)
  const spent = usage ? { usage } : {}
  if (run.error) return yield { type: 'RUN_ERROR', ...run.error, ...spent }
  const outcome = outcomeOf(run, waiting ?? [], clientTools)
  const result = run.reason === undefined ? {} : { result: { reason: run.reason } }
  yield { ...finished, outcome, ...result, ...spent }
}

/** As server-sent events; what breaks is an event too. */
async function* framesOf(events: AsyncGenerator<AgUiEvent>): AsyncGenerator<string> {
  const frame = (event: AgUiEvent): string => `data: ${JSON.stringify(event)}\n\n`
  try {
    for await (const event of events) yield frame(event)
  } catch (error) {
    const code = error instanceof ByrefError ? error.code : 'internal'
    yield frame({ type: 'RUN_ERROR', code, message: errorMessage(error) })
  }
}
