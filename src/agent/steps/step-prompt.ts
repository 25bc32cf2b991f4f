import type { LanguageModelV4Prompt } from '@ai-sdk/provider'
import type { Assets } from '../../assets/assets-contract.ts'
import type { AssetMeta } from '../../content/asset.ts'
import type { Board } from '../../content/board.ts'
import type { ConversationState } from '../../content/conversation-state.ts'
import type { AssetCreated } from '../../content/events.ts'
import { metasBlock } from '../../content/metas-block.ts'
import { referenceGuide } from '../../content/reference-guide.ts'
import { ByrefError } from '../../errors.ts'
import { capabilitiesOf } from '../../model/capabilities.ts'
import type { PromptBuilder, PromptSource } from '../../prompt/prompt-builder.ts'
import type { AgentSettings } from '../run-settings.ts'

/** Metas are read for at most this many assets, the newest; the block's own budget leaves out more. */
const MAX_METAS = 200

/** A conversation as a step finds it. */
export interface PromptedConversation {
  state: Pick<ConversationState, 'messages' | 'assets'>
  board: Board
}

/** The prompt of the next model call: a pure function of the log and of assets, which never change. */
export async function stepPrompt(
  { state, board }: PromptedConversation,
  { instructions, model, tools }: Pick<AgentSettings, 'instructions' | 'model' | 'tools'>,
  { assets, prompts }: { assets: Assets; prompts: PromptBuilder },
): Promise<LanguageModelV4Prompt> {
  const metas = state.assets.length > 0 ? await metasOf(state.assets, assets) : []
  const guide = referenceGuide({
    assets: metas.length > 0,
    variables: tools.size > 0 && board.entries().length > 0,
    outputs: [...tools.values()].some(({ outputPath }) => (outputPath ?? true) === true),
  })
  return prompts.build(
    { messages: state.messages, board },
    {
      system: [instructions, guide ?? ''],
      metas: metasBlock(metas),
      capabilities: capabilitiesOf(model),
      media: mediaFor(assets),
      load: (ref) => bytesOrNull(assets, ref),
    },
  )
}

async function metasOf(created: readonly AssetCreated[], assets: Assets): Promise<AssetMeta[]> {
  const refs = created.slice(-MAX_METAS).map(({ ref }) => ref)
  const metas = await Promise.all(refs.map((ref) => metaOrNull(assets, ref)))
  return metas.filter((meta) => meta !== null)
}

/** A store that gives each body once gives none to a prompt, which is made anew at every step. */
function mediaFor({ config }: Assets): PromptSource['media'] {
  if (config.readsOnce) return 'none'
  return config.resolveInLLM ? 'all' : 'fetched'
}

/** An asset that was deleted meanwhile is not shown. */
async function metaOrNull(assets: Assets, ref: string): Promise<AssetMeta | null> {
  return assets.meta(ref).catch(nullIfMissing)
}

async function bytesOrNull(
  assets: Assets,
  ref: string,
): Promise<{ bytes: Uint8Array; mime: string } | null> {
  return assets.get(ref).catch(nullIfMissing)
}

function nullIfMissing(error: unknown): null {
  if (error instanceof ByrefError && error.code === 'asset_not_found') return null
  throw error
}
