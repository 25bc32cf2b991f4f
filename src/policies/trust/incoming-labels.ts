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
} from '../../core/labels/label.ts'
import { type WrittenLabelTree, writeLabelTree } from '../../core/labels/label-tree.ts'
import { isSpeaker } from '../../core/labels/labels.ts'
import type { Message } from '../../core/messages/message.ts'
import { readParts } from '../../core/messages/message-parts.ts'
import { isAssetRef } from '../../core/refs/asset-ref.ts'
import type { TrustSettings } from './trust-options.ts'

/** The labels of incoming messages and of the files that come with them. */
export class IncomingLabels {
  readonly #attachments: TrustSettings['attachments']
  /** The label that the caller passed with the messages. */
  readonly #given: Label | null

  constructor({ attachments }: Pick<TrustSettings, 'attachments'>, given: LabelInput | undefined) {
    this.#attachments = attachments
    this.#given = given === undefined ? null : readLabel(given)
  }

  /** Returns the label of a message. Null if the sender alone determines it. */
  of({ id, content, content_type, message_type, sender }: Message): WrittenLabelTree | null {
    const source = `message:${id}`
    // Without a label, a reply to a command would count as the engine's own message.
    const isReply = message_type === 'command-response'
    const usual = isReply ? (isSpeaker(sender) ? TRUSTED : madeBy(UNTRUSTED, source)) : null
    const base = this.#given ? madeBy(this.#given, source) : usual
    const isParts = content_type === 'multipart/mixed' && Array.isArray(content)
    const linked = isParts && this.#attachments === 'untrusted' ? linkedParts(content) : []
    if (linked.length === 0) return base && writeLabelTree({ label: base })
    // The content of a web address can change at any time, so it is untrusted, whoever sent the address.
    const label = join(base ?? TRUSTED, madeBy(UNTRUSTED, source))
    const fields = Object.fromEntries(linked.map((index) => [index, { label }]))
    return writeLabelTree({ label: base ?? TRUSTED, fields })
  }

  /**
   * Returns the label of a file that came with a message.
   *
   * @param kept The label in the asset's record, if the asset existed before.
   */
  ofFile(
    { id, sender }: Pick<Message, 'id' | 'sender'>,
    kept: WrittenLabel = {},
  ): WrittenLabelTree {
    // The result of a call is not a file that somebody attached.
    const isTrusted = this.#attachments === 'trusted' && isSpeaker(sender)
    const attached = isTrusted ? TRUSTED : UNTRUSTED
    const label = joinAll([attached, this.#given ?? readLabel({}), readLabel(kept)])
    return writeLabelTree({ label: madeBy(label, `message:${id}`) })
  }
}

/** Returns the indexes of the parts that are files at a web address. */
function linkedParts(content: readonly unknown[]): number[] {
  return readParts(content).flatMap((part, index) =>
    part.type === 'media' && !isAssetRef(part.ref) ? [index] : [],
  )
}
