import { toAssetStore } from '../assets/asset-facade.ts'
import { withoutCarriedBytes } from '../assets/extract/carried-bytes.ts'
import { extractAssets } from '../assets/extract/extract.ts'
import type { ConversationEvent } from '../content/events.ts'
import type { OutputTarget } from '../content/output-path.ts'
import { ByrefError, errorMessage } from '../errors.ts'
import { instanceOf, outputAlternatives } from './data-targets.ts'
import { jsonValue } from './json-value.ts'
import { fetchedByReference } from './native-tools.ts'
import type { ModelCall } from './read-response.ts'
import { resolveArguments } from './resolve-arguments.ts'
import type { RunSettings } from './run-settings.ts'
import type { Thread } from './thread.ts'
import type { Tool, ToolContext } from './tool.ts'
import { validateInput } from './validate.ts'

/**
 * What a call came to: the tool's value with its bytes as references, or what went wrong; the events of its assets; and
 * where it is to be written (alternatives of targets that are all written).
 */
export type CallOutcome = { events: ConversationEvent[]; outputs: OutputTarget[][] } & (
  | { value: unknown }
  | { error: { code: string; message: string } }
)

/**
 * Runs one call: prepare (find the tool, resolve, validate), execute, extract. Whatever fails in it is its outcome,
 * for the model to see; only a cancelled run throws.
 */
export async function runCall(
  thread: Thread,
  call: ModelCall,
  options: RunSettings,
): Promise<CallOutcome> {
  const { signal } = options
  const events: ConversationEvent[] = []
  let outputs: OutputTarget[][] = []
  try {
    signal.throwIfAborted()
    if (call.problem) throw new ByrefError('invalid_arguments', call.problem)
    const tool = findTool(call.name, options.tools)
    // A path that names nothing is said before the work is done, not after.
    outputs = outputAlternatives(call, tool)
    const onEvent = (event: ConversationEvent): void => void events.push(event)
    const assets = options.assets.scoped({
      by: 'tool',
      tool: tool.id,
      toolCallId: call.id,
      onEvent,
    })
    const instance = instanceOf(call.arguments)
    const read = (variable: string): unknown => thread.board.read(variable, { instance })
    const args = withoutBookkeeping(call.given ?? call.arguments)
    const resolved = await resolveArguments(tool, args, { assets, read })
    const input = await validateInput(tool, resolved)
    const context: ToolContext = {
      toolCallId: call.id,
      conversation: thread.id,
      runId: options.runId,
      signal,
      progress: (message, fraction) => {
        const payload = {
          toolCallId: call.id,
          message,
          ...(fraction === undefined ? {} : { fraction }),
        }
        void thread.stream({ type: 'TOOL_PROGRESS', payload })
      },
      assets,
      assetStore: toAssetStore(assets),
      resolveAsset: (ref) => assets.get(ref),
      assetConfig: assets.config,
      read,
    }
    const result = await unlessAborted(signal, async () => tool.execute(input, context))
    const maker = { by: 'tool', tool: tool.id, toolCallId: call.id } as const
    const { value } = await unlessAborted(signal, () => {
      return extractAssets(result, { assets, signal, ...maker })
    })
    return { value: jsonValue(withoutCarriedBytes(fetchedByReference(value))), events, outputs }
  } catch (error) {
    if (signal.aborted) throw error
    return { error: described(error), events, outputs }
  }
}

function findTool(name: string, tools: readonly Tool[]): Tool {
  const tool = tools.find(({ id }) => id === name)
  if (tool) return tool
  const known = tools.map(({ id }) => id).join(', ') || 'none'
  throw new ByrefError('tool_not_found', `There is no tool "${name}"; the tools are: ${known}`)
}

/** The arguments without what the engine adds to every tool. */
function withoutBookkeeping(args: Record<string, unknown>): Record<string, unknown> {
  const { _outputPath, _instance, ...own } = args
  return own
}

/** Work that pays no attention to the signal (a tool, its stream) does not keep a cancelled run waiting. */
async function unlessAborted<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  signal.throwIfAborted()
  const aborted = Promise.withResolvers<never>()
  const onAbort = (): void => aborted.reject(signal.reason)
  signal.addEventListener('abort', onAbort, { once: true })
  try {
    return await Promise.race([work(), aborted.promise])
  } finally {
    signal.removeEventListener('abort', onAbort)
  }
}

function described(error: unknown): { code: string; message: string } {
  if (error instanceof ByrefError) return { code: error.code, message: error.message }
  return { code: 'tool_failed', message: errorMessage(error) }
}
