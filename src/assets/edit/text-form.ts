import { ByrefError } from '../../core/errors.ts'
import { hasUtf8Mark, markedEncoding, textEncodingOf } from '../bodies/text-encoding.ts'
import type { Draft } from './draft.ts'
import { findBytes } from './find-text.ts'

/** Bytes of the longest byte order mark. */
const MAX_MARK = 3
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters of ASCII
const ASCII = /^[\u0000-\u007f]*$/

/** The form in which a text is stored: encoding and line breaks. */
export class TextForm {
  readonly encoding: 'utf-8' | 'utf-16le' | 'utf-16be'
  /** Bytes of a code unit. */
  readonly unit: 1 | 2
  /** Bytes of the byte order mark. */
  readonly mark: number
  /** A line feed. */
  readonly newline: Uint8Array
  readonly #draft: Draft
  /** Whether the text is known to be UTF-8. */
  #isUtf8: boolean

  private constructor(draft: Draft, head: Uint8Array, before: TextForm | null) {
    this.#draft = draft
    this.#isUtf8 = before === null ? false : before.#isUtf8
    this.encoding = markedEncoding(head)
    this.unit = this.encoding === 'utf-8' ? 1 : 2
    this.newline = Buffer.from(
      this.unit === 1 ? '\n' : this.encoding === 'utf-16le' ? '\n\0' : '\0\n',
    )
    this.mark = this.unit === 2 ? 2 : hasUtf8Mark(head) ? 3 : 0
  }

  /**
   * Detects the form of a text. Without a byte order mark it is UTF-8.
   *
   * @param before Its form before an edit. Edits write whole characters in place of whole characters, so UTF-8 stays UTF-8.
   */
  static async of(draft: Draft, before: TextForm | null = null): Promise<TextForm> {
    return new TextForm(draft, await draft.read(0, MAX_MARK), before)
  }

  /**
   * Returns a text of an edit as bytes of the asset.
   *
   * @throws ByrefError `invalid_arguments` for half of a surrogate pair; `asset_unsupported` for other characters than
   * those of ASCII if the asset is not UTF-8
   */
  async encode(text: string): Promise<Uint8Array> {
    if (!text.isWellFormed()) {
      throw new ByrefError(
        'invalid_arguments',
        'A text of the edit contains half of a surrogate pair: send whole characters.',
      )
    }
    if (this.unit === 1) {
      if (ASCII.test(text) || (await this.#checkUtf8())) return Buffer.from(text)
      throw new ByrefError(
        'asset_unsupported',
        'The text is not UTF-8 or UTF-16, so only characters of ASCII can be found or written in it. Save it as UTF-8 first.',
      )
    }
    const bytes = Buffer.from(text, 'utf16le')
    return this.encoding === 'utf-16le' ? bytes : bytes.swap16()
  }

  /** Returns new text with the line breaks of the asset, which are those of its first line. */
  async withLineEnds(text: string): Promise<string> {
    return text.includes('\n') && (await this.#isCrlf()) ? text.replace(/\r?\n/g, '\r\n') : text
  }

  /** Returns bytes of the asset as text. */
  decode(bytes: Uint8Array): string {
    return new TextDecoder(this.encoding, { ignoreBOM: true }).decode(bytes)
  }

  /** Returns whether the first line ends with CRLF. */
  async #isCrlf(): Promise<boolean> {
    for await (const [at = 0] of findBytes(this.#draft, this.newline, this)) {
      return this.decode(await this.#draft.read(Math.max(0, at - this.unit), at)) === '\r'
    }
    return false
  }

  /** Returns whether the text is UTF-8. */
  async #checkUtf8(): Promise<boolean> {
    this.#isUtf8 ||= (await textEncodingOf(this.#draft.chunks())) === 'utf-8'
    return this.#isUtf8
  }
}
