import { checkOptions, is, type OptionTable } from '../check-options.ts'
import { formatAssetRef, parseAssetRef } from './asset-ref.ts'
import { findEmbeddedRefs } from './embedded-refs.ts'

/** Options of {@link renderEmbeddedRefs}. */
export interface RenderRefsOptions {
  /**
   * Returns the name and MIME type of a referenced asset, if known. Images are shown, and other assets are
   * linked. Default name: the asset's id.
   */
  asset?(ref: string): { name?: string; mime?: string } | undefined
  /** Whether the text is Markdown. If false, each reference is replaced by its URL only. Default true. */
  markdown?: boolean
  /**
   * Start position. The text before it is only context and is not returned. To render a stream, pass all text
   * so far. Default 0.
   */
  from?: number
}

const OPTIONS: OptionTable<RenderRefsOptions> = {
  asset: is.callback(),
  markdown: is.boolean,
  from: is.wholeNumber,
}

/** Precedes the URL of a Markdown link, of a link definition, or of an HTML attribute. */
const BEFORE_URL = /(?:\]\(|\]:|=["'])[ \t]{0,20}$/

/**
 * Replaces the embedded references in a text that an app shows. Where a URL is expected
 * (`![chart](<|asset://chart7|>)`), a reference becomes its URL. Elsewhere it becomes `![name](url)` for
 * images and `[name](url)` for other assets. References in code are left unchanged.
 *
 * @param urlOf Returns the URL at which the app serves a reference (`asset://…`).
 */
export function renderEmbeddedRefs(
  text: string,
  urlOf: (ref: string) => string,
  options?: RenderRefsOptions,
): string {
  const { asset, markdown = true, from = 0 } = checkOptions('renderEmbeddedRefs', options, OPTIONS)
  let rendered = ''
  let passed = from
  for (const { start, end, ref } of findEmbeddedRefs(text, { markdown })) {
    const parts = parseAssetRef(ref)
    if (!parts || start < from) continue
    const address = formatAssetRef(parts)
    const url = markdown ? escapeUrl(urlOf(address)) : urlOf(address)
    const isUrl = !markdown || BEFORE_URL.test(text.slice(Math.max(0, start - 24), start))
    rendered += text.slice(passed, start)
    rendered += isUrl ? url : linkTo(url, asset?.(address), parts.id)
    passed = end
  }
  return rendered + text.slice(passed)
}

function linkTo(
  url: string,
  { name, mime }: { name?: string; mime?: string } = {},
  id: string,
): string {
  const text = (name ?? id).replace(/\s+/g, ' ').replace(/[\\`*_[\]<>&!|~]/g, '\\$&')
  return `${mime?.startsWith('image/') ? '!' : ''}[${text}](${url})`
}

/** Escapes a URL so that it cannot end a Markdown link or an HTML attribute. */
function escapeUrl(url: string): string {
  return url.replace(/[\s()<>"'\\`]/g, (char) => {
    const encoded = encodeURIComponent(char)
    return encoded === char ? `%${char.charCodeAt(0).toString(16)}` : encoded
  })
}
