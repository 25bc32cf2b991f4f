import { ByrefError, type ByrefErrorOptions } from '../errors.ts'

/** Where a conversation cannot be read, and why. */
export interface Damage {
  /** The position of the first damaged or missing record. */
  position: number
  /** A description, such as `its checksum is wrong`. */
  reason: string
}

/** Thrown if a conversation cannot be read to its end. Other conversations are not affected. */
export class DamagedError extends ByrefError {
  readonly damage: Damage

  /**
   * @param conversation Null if its id is unknown.
   */
  constructor(conversation: string | null, damage: Damage, options: ByrefErrorOptions = {}) {
    const which = conversation === null ? 'A conversation' : `The conversation "${conversation}"`
    super(
      'conversation_damaged',
      `${which} is damaged at position ${damage.position}: ${damage.reason}. Inspect it with "byref log verify" and repair it with "byref log repair".`,
      options,
    )
    this.damage = damage
  }
}
