import type { LanguageModelV4FilePart } from '@ai-sdk/provider'
import type { ModelCapabilities } from '../models/model-capabilities.ts'
import type { FilePart } from './transcript-item.ts'

/** How closely providers can be told to look at an image. */
const DETAILS = /^(low|high|auto)$/

/** A body in the AI SDK's form. */
export function toFilePart(
  { mediaType, fileName, detail, data }: FilePart,
  { detailOption }: Pick<ModelCapabilities, 'detailOption'>,
): LanguageModelV4FilePart {
  const isTold = detailOption !== null && detail !== undefined && DETAILS.test(detail)
  return {
    type: 'file',
    mediaType,
    data,
    ...(fileName === undefined ? {} : { filename: fileName }),
    ...(isTold ? { providerOptions: { [detailOption]: { imageDetail: detail } } } : {}),
  }
}
