import { is, type OptionTable } from '../core/check-options.ts'

/** How the tools of a framework take references and bytes. */
export interface Codec {
  /**
   * Which parameters take references to assets: those whose schema says `asset_ref_acceptable` (`declared`, the default), or
   * all that could hold one (`everywhere`).
   */
  references?: 'declared' | 'everywhere'
  /** How tools get bytes: as `Uint8Array` (`native`, the default), or as text in JSON (`base64`). */
  bytes?: 'native' | 'base64'
  /** Whether arguments are checked against the tool's schema here. Default true. */
  validate?: boolean
}

export const CODEC: OptionTable<Codec> = {
  references: is.oneOf('declared', 'everywhere'),
  bytes: is.oneOf('native', 'base64'),
  validate: is.boolean,
}
