/** What image files begin with, in latin1. */
const IMAGE_START =
  /^(?:\x89PNG\r\n|\xff\xd8\xff|GIF8[79]a|RIFF[\s\S]{4}WEBP|II\*\0|MM\0\*|[\s\S]{4}ftyp(?:avif|avis|heic|heix|mif1))/

/**
 * Whether bytes begin as an image of a common format does: PNG, JPEG, GIF, WebP, TIFF, AVIF or HEIC. For a guess where
 * nothing else tells; the first 12 bytes decide.
 */
export function isImageStart(head: Uint8Array): boolean {
  return IMAGE_START.test(Buffer.from(head.subarray(0, 16)).toString('latin1'))
}
