import type { Assets } from '../assets/assets-contract.ts'
import { extractAssets } from '../assets/extract/extract.ts'
import type { ConversationEvent } from '../content/events.ts'
import { errorMessage } from '../errors.ts'
import type { ModelCall } from './read-response.ts'

/**
 * Calls whose arguments hold no bodies, so that neither log nor later prompts do (spec X10): base64 and data URLs that
 * a model wrote are assets before the call is logged. The tool is still given what the model wrote, but for data that
 * is an asset as a whole: then `save_asset` has nothing left to save and is given the reference.
 */
export async function extractArguments(
  calls: readonly ModelCall[],
  assets: Assets,
): Promise<{ calls: ModelCall[]; events: ConversationEvent[] }> {
  const events: ConversationEvent[] = []
  const extracted = await Promise.all(
    calls.map(async (call): Promise<ModelCall> => {
      const scoped = assets.scoped({
        by: 'agent',
        tool: call.name,
        toolCallId: call.id,
        onEvent: (event) => void events.push(event),
      })
      try {
        const { value } = await extractAssets(call.arguments, { assets: scoped, by: 'agent' })
        if (value === call.arguments) return call
        const args = value as Record<string, unknown>
        if (call.name === 'save_asset' && typeof args.assetRef === 'string') {
          return { ...call, arguments: { ref: args.assetRef } }
        }
        return { ...call, arguments: args, given: call.arguments }
      } catch (error) {
        return { ...call, arguments: {}, problem: errorMessage(error) }
      }
    }),
  )
  return { calls: extracted, events }
}
