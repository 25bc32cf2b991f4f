/** Words among the parts of a message. */
export interface ReadText {
  type: 'text'
  text: string
}

/** A body among the parts of a message. */
export interface ReadMedia {
  type: 'media'
  kind: 'image' | 'audio' | 'video' | 'file'
  /** `asset://…`, or an `https:` URL that somebody wrote. */
  ref: string
  /** As far as it is known: `image/png`, `image/*`, `application/octet-stream`. */
  mimeType: string
  fileName?: string
  detail?: string
  format?: string
}

/**
 * The parts of a message in their order, whoever wrote them (binary-assets.md, "LLM Resolution"; the AI SDK's `image` and
 * `file`). Nothing vanishes: what is no part that is known becomes a text that says so. Never throws.
 */
export function readParts(_content: unknown): (ReadText | ReadMedia)[] {
  throw new Error('follows')
}
