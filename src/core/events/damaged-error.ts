import { ByrefError, type ByrefErrorOptions } from '../errors.ts'

/** Where a conversation cannot be read, and why. */
export interface Damage {
  /** Of the first record that is damaged or missing. */
  position: number
  /** Such as `its checksum is wrong`. */
  reason: string
}

/** A conversation that cannot be read to its end. Others are not affected. */
export class DamagedError extends ByrefError {
  readonly damage: Damage

  /** @param conversation Null where its id is not known. */
  constructor(conversation: string | null, damage: Damage, options: ByrefErrorOptions = {}) {
    const which = conversation === null ? 'A conversation' : `The conversation "${conversation}"`
    super(
      'conversation_damaged',
      `${which} is damaged at position ${damage.position}: ${damage.reason}. See it with: byref log verify; mend it with: byref log repair`,
      options,
    )
    this.damage = damage
  }
}
