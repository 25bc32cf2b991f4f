import type { LanguageModelV4FilePart } from '@ai-sdk/provider'
import type { ModelCapabilities } from '../models/model-capabilities.ts'
import type { FilePart } from './transcript-item.ts'

/** The values of `imageDetail` that providers know. */
const DETAILS = /^(low|high|auto)$/

/** Converts a resolved body to a file part of the AI SDK. */
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
