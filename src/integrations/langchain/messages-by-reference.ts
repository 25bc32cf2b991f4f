import { type BaseMessage, HumanMessage, ToolMessage } from '@langchain/core/messages'
import type { Assets } from '../../assets/assets-contract.ts'
import { ByrefError, publicMessage } from '../../core/errors.ts'
import { isAssetRef } from '../../core/refs/asset-ref.ts'
import { dataInText } from '../json-in-text.ts'

type Block = { type: string; [key: string]: unknown }

/** Returns a copy of a message with other fields. */
export function withFields<Message extends BaseMessage>(message: Message, fields: object): Message {
  const { lc_kwargs, id, name } = message
  const Kind = message.constructor as new (fields: object) => Message
  return new Kind({ ...lc_kwargs, id, name, ...fields })
}

/** Whether a result or a message of a person names an asset. */
export function namesAsset(message: BaseMessage): boolean {
  const isShown = ToolMessage.isInstance(message) || HumanMessage.isInstance(message)
  return isShown && JSON.stringify(message.content).includes('asset://')
}

/**
 * Returns messages as the model gets them: with the images that messages of people refer to, with the images that
 * `fetch_asset` has just read, and with the guide at the first reference. Each prompt begins with the one before it, except
 * for fetched images.
 *
 * @param how Whether the model takes images, and the text of the guide.
 */
export async function showMessages(
  messages: readonly BaseMessage[],
  assets: Assets,
  { takesImages, text }: { takesImages: boolean; text: string },
): Promise<BaseMessage[]> {
  const first = messages.findIndex(namesAsset)
  const last = messages.findLastIndex((message) => !ToolMessage.isInstance(message))
  const fetched = messages.slice(last + 1).flatMap(({ content }) => {
    const result = Object(typeof content === 'string' ? dataInText(content) : null)
    const { assetRef, fetched: isFetched } = result
    return isFetched === true ? [textOf(assetRef), imageOf(assetRef)] : []
  })
  const load = async (block: Block): Promise<Block> => {
    const ref = refOf(block)
    if (ref === null) return block
    try {
      const { mime } = await assets.info(ref)
      const isShown = takesImages && mime.startsWith('image/')
      return isShown
        ? imageOf(await assets.getDataUrl(ref))
        : textOf(`[not shown: ${mime}, ${ref}]`)
    } catch (error) {
      // It may have expired. The thread continues without it.
      if (error instanceof ByrefError) return textOf(`[not shown: ${publicMessage(error)}]`)
      throw error
    }
  }
  const show = async (message: BaseMessage, at: number): Promise<BaseMessage> => {
    const guide = at === first ? [textOf(text)] : []
    if (guide.length === 0 && !HumanMessage.isInstance(message)) return message
    const { content: given } = message
    const content =
      typeof given === 'string'
        ? [given, ...guide.map(({ text }) => text)].join('\n\n')
        : [...(await Promise.all(given.map(load))), ...guide]
    return content === given ? message : withFields(message, { content })
  }
  const more = fetched.length > 0 ? [new HumanMessage({ content: fetched })] : []
  return Promise.all([...messages, ...more].map(show))
}

const textOf = (text: string) => ({ type: 'text' as const, text })
const imageOf = (url: string) => ({ type: 'image_url' as const, image_url: { url } })

/** Returns the reference that a file or an image has as its URL, in any form of LangChain. Null for other blocks. */
function refOf({ image_url: image, url }: Block): string | null {
  const found = url ?? Object(image).url ?? image
  return typeof found === 'string' && isAssetRef(found) ? found : null
}
