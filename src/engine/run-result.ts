import { ByrefError, type ByrefErrorCode } from '../core/errors.ts'
import type { ConversationState, RunState } from '../core/events/conversation-state.ts'
import type { AssetCreated, FinishReason, TokenUsage } from '../core/events/events.ts'
import { readMetadata } from '../core/messages/read-metadata.ts'
import type { OutputSchema } from './output/output-schema.ts'
import { runOutput } from './output/run-output.ts'

/** How a run ended. */
export interface RunResult<Output = unknown> {
  /** What the agent said last; empty where it did not come to an answer. */
  text: string
  /** The answer as the schema in `run({ output })` has it; null where none was asked for. */
  output: Output
  reason: FinishReason
  usage: TokenUsage
  /** The assets that its tools and its model made, in their order. */
  assets: readonly AssetCreated[]
  conversation: string
}

/**
 * The result of a run that has ended.
 *
 * @throws ByrefError that of its `RUN_ERROR`; `output_invalid` where an output was asked for and there is none
 */
export async function runResult<Output>(
  { id, state }: { id: string; state: ConversationState },
  run: RunState,
  schema?: OutputSchema,
): Promise<RunResult<Output>> {
  const { status, error, reason = 'done', usage } = run
  if (status === 'failed') {
    throw new ByrefError((error?.code ?? 'run_failed') as ByrefErrorCode, error?.message ?? '')
  }
  const output = (await runOutput(state, run, schema)) as Output
  const assets = assetsOf(state, run)
  return { text: textOf(state, run), output, reason, usage, assets, conversation: id }
}

/** What the run's last answer without calls says. */
function textOf({ messages }: ConversationState, { steps, reason }: RunState): string {
  const last = steps.findLast(({ finishedAt }) => finishedAt !== undefined)
  if (!last || last.callIds.length > 0 || reason === 'cancelled') return ''
  const message = messages.findLast(({ id }) => id === last.messageId)
  return typeof message?.content === 'string' ? message.content : ''
}

/** The assets that came of the run's calls, and those that its answers have attached. */
function assetsOf({ assets, messages }: ConversationState, { steps }: RunState): AssetCreated[] {
  const calls = new Set(steps.flatMap(({ callIds }) => callIds))
  const answers = new Set(steps.map(({ messageId }) => messageId))
  const attached = new Set(
    messages
      .filter(({ id }) => answers.has(id))
      .flatMap((message) => readMetadata(message).attachments.map(({ assetRef }) => assetRef)),
  )
  return assets.filter(({ ref, by, toolCallId = '' }) => {
    // An item of a mapped call is `<call>/<index>`.
    const isOfCall = calls.has(toolCallId) || calls.has(toolCallId.replace(/\/\d+$/, ''))
    return isOfCall || (by === 'agent' && attached.has(ref))
  })
}
