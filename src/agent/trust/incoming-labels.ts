import {
  join,
  joinAll,
  type Label,
  type LabelInput,
  madeBy,
  readLabel,
  TRUSTED,
  UNTRUSTED,
  type WrittenLabel,
} from '../../content/label.ts'
import { type WrittenLabelTree, writeLabelTree } from '../../content/label-tree.ts'
import type { Message } from '../../content/message.ts'
import { readParts } from '../../content/message-parts.ts'
import { isAssetRef } from '../../refs/asset-ref.ts'
import type { TrustSettings } from './trust-options.ts'

/** What is known of messages that come in. */
export interface IncomingLabels extends Pick<TrustSettings, 'attachments'> {
  /** What their sender says of them. */
  label?: LabelInput
}

/** The label of a message that comes in; null for what goes by who sent it. */
export function labelOfIncoming(message: Message, labels: IncomingLabels): WrittenLabelTree | null {
  const { id, content, content_type: type } = message
  const said = labels.label === undefined ? null : madeBy(readLabel(labels.label), `message:${id}`)
  const isParts = type === 'multipart/mixed' && Array.isArray(content)
  const far = isParts && labels.attachments === 'untrusted' ? farParts(content) : []
  if (far.length === 0) return said && writeLabelTree({ label: said })
  // What an address on the web holds is whoever's it is, whoever names it.
  const label = join(said ?? TRUSTED, madeBy(UNTRUSTED, `message:${id}`))
  const fields = Object.fromEntries(far.map((index) => [index, { label }]))
  return writeLabelTree({ label: said ?? TRUSTED, fields })
}

/**
 * The label of a file that came with a message.
 *
 * @param kept What its record says, where it was made before.
 */
export function labelOfAttached(
  messageId: string,
  { attachments, label }: IncomingLabels,
  kept: WrittenLabel = {},
): WrittenLabelTree {
  const own: Label = attachments === 'trusted' ? TRUSTED : UNTRUSTED
  const all = joinAll([own, readLabel(label ?? {}), readLabel(kept)])
  return writeLabelTree({ label: madeBy(all, `message:${messageId}`) })
}

function farParts(content: readonly unknown[]): number[] {
  return readParts(content).flatMap((part, index) =>
    part.type === 'media' && !isAssetRef(part.ref) ? [index] : [],
  )
}
