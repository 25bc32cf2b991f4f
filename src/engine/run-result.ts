import type { Assets } from '../assets/assets-contract.ts'
import { ByrefError, type ByrefErrorCode } from '../core/errors.ts'
import type { ConversationState, RunState } from '../core/events/conversation-state.ts'
import type { AssetCreated, FinishReason, TokenUsage } from '../core/events/events.ts'
import { readMetadata } from '../core/messages/read-metadata.ts'
import { callIdOf } from '../core/refs/item-call.ts'
import type { OutputSchema } from './output/output-schema.ts'
import { lastAnswer, runOutput } from './output/run-output.ts'

/** The result of a run that has ended. */
export interface RunResult<Output = unknown> {
  /** The text of the agent's last answer; empty if there is none. */
  text: string
  /** The answer, parsed by the schema of `run({ output })`; null if no output was requested. */
  output: Output
  /** Why the run ended: `done`, `length`, `content_filter`, `cancelled`, or a limit such as `step_limit`. */
  reason: FinishReason
  /** The tokens of all steps, including sub-agents, `ask_about` and the tools' own model calls. */
  usage: TokenUsage
  /** The assets that its tools and its model created, in order of creation. */
  assets: readonly AssetCreated[]
  conversation: string
}

/**
 * Returns the result of a run that has ended.
 *
 * @throws ByrefError the error of its `RUN_ERROR`; `output_invalid` if the requested output is missing or invalid
 */
export async function runResult<Output>(
  { id, state }: { id: string; state: ConversationState },
  run: RunState,
  options: { schema?: OutputSchema; assets: Assets },
): Promise<RunResult<Output>> {
  const { status, error, reason = 'done', usage } = run
  if (status === 'failed') {
    throw new ByrefError((error?.code ?? 'run_failed') as ByrefErrorCode, error?.message ?? '')
  }
  const output = (await runOutput(state, run, options)) as Output
  const assets = assetsOf(state, run)
  const { text } = lastAnswer(state, run)
  return { text, output, reason, usage, assets, conversation: id }
}

/** Returns the assets of a run's calls so far, and the attachments of its answers. */
export function assetsOf(
  { assets, messages }: ConversationState,
  { steps }: RunState,
): AssetCreated[] {
  const calls = new Set(steps.flatMap(({ callIds }) => callIds))
  const answers = new Set(steps.map(({ messageId }) => messageId))
  // A conversation may have thousands of messages, and models seldom make assets.
  const written = assets.some(({ by }) => by === 'agent')
    ? messages.filter(({ id }) => answers.has(id))
    : []
  const attached = new Set(
    written.flatMap((message) => readMetadata(message).attachments.map(({ assetRef }) => assetRef)),
  )
  return assets.filter(({ ref, by, toolCallId = '' }) => {
    const isOfCall = calls.has(toolCallId) || calls.has(callIdOf(toolCallId))
    return isOfCall || (by === 'agent' && attached.has(ref))
  })
}
