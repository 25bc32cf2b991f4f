import { decodeBase64 } from './data-url.ts'

/** In characters. The smallest GIF takes 36. */
const MIN_LENGTH = 32

/**
 * How files begin in base64, by the signatures of their formats. Each is at least three bytes long: other text that
 * begins so by chance, and is base64 to its end, is rarer than one in ten million.
 */
const STARTS = [
  // PNG, JPEG, GIF, TIFF, Photoshop
  'iVBORw0KGgo|/9j/|R0lGOD[dl]h|SUkqA|TU0AK|OEJQU',
  // WebP, WAV and AVI by their RIFF; MP4, MOV, M4A, AVIF and HEIC by their `ftyp`
  'UklGR.{6}(?:XRUJQ|XQVZF|BVkkg)|AAAA.[GWm2]Z0eXB',
  // WebM and Matroska, MP3 with ID3 tags, FLAC, Ogg
  'GkXfo|SUQz[AB]|ZkxhQ|T2dnU',
  // PDF; ZIP, and with it DOCX, XLSX, PPTX and EPUB; gzip, Zstandard, xz, 7z
  'JVBERi0|UEsDB|H4sI|KLUv/|/Td6WF|N3q8ryc',
  // Parquet, Arrow, SQLite, WOFF, WebAssembly
  'UEFSM|QVJST1cx|U1FMaXRlIGZvcm1hdCAz|d09GR|d09GM|AGFzb',
]
const START = new RegExp(`^(?:${STARTS.join('|')})`)

/** Whether text is the base64 of a file, plain or URL-safe: it begins with the signature of a known format, and decodes. */
export function isBase64File(text: string): boolean {
  return startsAsFile(text) && decodeBase64(text) !== null
}

/** Whether text begins as the base64 of a file does: cheap, for the many texts that do not. */
export function startsAsFile(text: string): boolean {
  if (text.length < MIN_LENGTH) return false
  return START.test(text.slice(0, 32).trimStart().replaceAll('-', '+').replaceAll('_', '/'))
}
