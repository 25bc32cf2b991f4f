import type { RunAgentInput } from '@ag-ui/core'
import { RunAgentInputSchema } from '@ag-ui/core/schemas'
import type { Agent } from '../../agent/agent-contract.ts'
import { defined } from '../../core/defined.ts'
import { ByrefError, HTTP_STATUS, publicMessage } from '../../core/errors.ts'
import { openRun, runOf } from '../../core/events/conversation-state.ts'
import type { JsonValue } from '../../core/json/json.ts'
import type { Speaker } from '../../core/messages/spoken-by.ts'
import { eventStream } from '../serving/event-stream.ts'
import {
  type FollowedConversation,
  followConversation,
  repeatIfBusy,
  say,
} from '../serving/follow-conversation.ts'
import {
  failureText,
  type RequestHandler,
  readJson,
  requestHandler,
} from '../serving/request-handler.ts'
import { type ServedAgentOptions, servedAgent } from '../serving/served-agent.ts'
import {
  type AgUiEvent,
  createAgUiEvents,
  legacyOutcome,
  outcomeOf,
  usageOf,
} from './ag-ui-events.ts'
import { type AgUiInput, agUiMessages, readInput } from './ag-ui-messages.ts'
import { stateOf, updateState } from './state.ts'

/**
 * Options of {@link createAgUiHandler}. Browsers choose the ids of threads, so without a namespace everybody can use all of
 * them. `HttpAgent` aborts by closing the connection.
 */
export type AgUiOptions = ServedAgentOptions

/**
 * Serves an agent by AG-UI: a `POST` of a `RunAgentInput` is answered with the events of its run. A thread is a conversation, and
 * only messages that it does not know are added. Calls that wait for approval are interrupts. Calls of the app's own tools end
 * the run until their results arrive. The board is the state. With several agents, `?agent=` in the URL names one.
 *
 * @throws ByrefError `config_invalid` for an unknown option
 */
export function createAgUiHandler(options: AgUiOptions): RequestHandler {
  const find = servedAgent(options, 'createAgUiHandler')
  const { keepRunning = false, maxBytes } = options
  return requestHandler(async (request) => {
    try {
      const found = await find(request)
      if (found instanceof Response) return found
      const form = { what: 'RunAgentInput', maxBytes }
      const input = (await readJson(request, RunAgentInputSchema, form)) as RunAgentInput
      const { speaker } = found
      const name = new URL(request.url).searchParams.get('agent')
      const { threadId: conversation, tools } = input
      const agent = await found.agent({ name, conversation, tools })
      // If another request has just started a run, the messages of this one join it.
      return await repeatIfBusy(() => answer(agent, input, { speaker, keepRunning }))
    } catch (error) {
      if (!(error instanceof ByrefError)) throw error
      const { code } = error
      return Response.json({ code, message: publicMessage(error) }, { status: HTTP_STATUS[code] })
    }
  })
}

async function answer(
  agent: Agent,
  input: RunAgentInput,
  { speaker, keepRunning }: { speaker: Speaker; keepRunning: boolean },
): Promise<Response> {
  const { threadId } = input
  const followed = await followConversation(agent, threadId)
  try {
    const brought = await readInput(input, { followed, speaker, assets: agent.assets })
    const context = speaker.speaksAsOthers ? forwardedContext(input) : undefined
    const runId = await sendInput(agent, threadId, { brought, followed, context })
    return eventStream(runEvents(input, { brought, followed, runId }), {
      frame: (event) => `data: ${JSON.stringify(event)}\n\n`,
      failed: errorEvent,
      onEnd(isCut) {
        followed.close()
        if (!isCut || runId === null || keepRunning) return
        agent.cancel(threadId, { runId }).catch(() => {})
      },
    })
  } catch (error) {
    followed.close()
    throw error
  }
}

interface Talk {
  brought: AgUiInput
  followed: FollowedConversation
}

/** Sends the input of the client. Resolves to the id of the run that answers, or null if no run starts. */
async function sendInput(
  agent: Agent,
  conversation: string,
  { brought, followed, context }: Talk & { context: JsonValue | undefined },
): Promise<string | null> {
  const { messages, answers } = brought
  const open = openRun(followed.state)
  if (open || messages.some(startsRun)) {
    return say(agent, conversation, { messages, answers, open, context })
  }
  if (messages.length > 0) await agent.add(conversation, messages)
  for (const [id, answer] of answers) await agent.approve(conversation, id, answer)
  return null
}

/** Returns the `forwardedProps`, or undefined for an empty object: clients send one by default. */
function forwardedContext({ forwardedProps: props }: RunAgentInput): JsonValue | undefined {
  return Object.keys(Object(props)).length > 0 ? (props as JsonValue) : undefined
}

/** Data and context alone start no run. */
function startsRun(message: object): boolean {
  return !('type' in message && message.type === 'data')
}

function errorEvent(error: unknown): AgUiEvent {
  const code = error instanceof ByrefError ? error.code : 'internal'
  return { type: 'RUN_ERROR', code, message: failureText(error) }
}

async function* runEvents(
  { threadId, runId: id, protocolVersion }: RunAgentInput,
  { brought, followed, runId }: Talk & { runId: string | null },
): AsyncGenerator<AgUiEvent> {
  const known = brought.messages.flatMap((one) => ('id' in one && one.id ? [one.id] : []))
  const translated = createAgUiEvents({ messages: new Set(known), results: brought.results })
  followed.takeWritten()
  const state = stateOf(followed.board)
  yield defined({ type: 'RUN_STARTED', threadId, runId: id, protocolVersion })
  if (brought.messages.length === 0 && brought.answers.size === 0) {
    yield { type: 'MESSAGES_SNAPSHOT', messages: agUiMessages(followed.state.messages) }
  }
  yield { type: 'STATE_SNAPSHOT', snapshot: { ...state } }
  const finished = { type: 'RUN_FINISHED', threadId, runId: id }
  if (runId === null) return yield finished
  for await (const { event } of followed.untilDue(runId, brought.answers.keys())) {
    yield* translated.take(event)
    const delta = updateState(state, followed.board, followed.takeWritten())
    if (delta.length > 0) yield { type: 'STATE_DELTA', delta }
  }
  yield* translated.finish()
  const run = runOf(followed.state, runId)
  // The client has left.
  if (!run) return
  const usage = usageOf(run.usage, run.model)
  if (run.error) return yield defined({ type: 'RUN_ERROR', ...run.error, usage })
  const whole = outcomeOf(run, followed.waiting() ?? [])
  const outcome = protocolVersion === undefined ? legacyOutcome(whole) : whole
  const result = run.reason === undefined ? undefined : { reason: run.reason }
  yield defined({ ...finished, outcome, result, usage })
}
