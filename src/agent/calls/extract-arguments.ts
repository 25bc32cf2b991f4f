import type { Assets } from '../../assets/assets-contract.ts'
import { extractAssets } from '../../assets/extract/extract.ts'
import { mayHoldAssets } from '../../assets/extract/may-hold-assets.ts'
import type { ConversationEvent } from '../../content/events.ts'
import { errorMessage } from '../../errors.ts'
import type { ModelCall } from '../steps/read-response.ts'
import type { AcceptedCall } from './call-runner.ts'

/**
 * A call whose arguments hold no bodies, so that neither log nor later prompts do (spec X10): base64 and data URLs that
 * a model wrote are assets before the call is logged. The tool is still given what the model wrote, but for data that
 * is an asset as a whole: then `save_asset` has nothing left to save and is given the reference.
 */
export async function extractArguments(
  { problem, ...call }: ModelCall,
  assets: () => Assets,
): Promise<Pick<AcceptedCall, 'call' | 'given' | 'problem' | 'events'>> {
  if (!mayHoldAssets(call.arguments)) return { call, problem, events: [] }
  const events: ConversationEvent[] = []
  const scoped = assets().scoped({
    by: 'agent',
    tool: call.name,
    toolCallId: call.id,
    onEvent: (event) => {
      events.push(event)
    },
  })
  try {
    const { value } = await extractAssets(call.arguments, { assets: scoped, by: 'agent' })
    if (value === call.arguments) return { call, problem, events }
    const args = value as Record<string, unknown>
    if (call.name === 'save_asset' && typeof args.assetRef === 'string') {
      return { call: { ...call, arguments: { ref: args.assetRef } }, problem, events }
    }
    return { call: { ...call, arguments: args }, given: call.arguments, problem, events }
  } catch (error) {
    return { call: { ...call, arguments: {} }, problem: errorMessage(error), events }
  }
}
