import { decodeBase64 } from './data-url.ts'

/** In characters. The smallest GIF takes 36. */
const MIN_LENGTH = 32

/**
 * How files begin in base64, by the signatures of their formats. Each is at least three bytes long: other text that
 * begins so by chance, and is base64 to its end, is rarer than one in ten million.
 */
const STARTS = [
  'iVBORw0KGgo', // PNG
  '/9j/', // JPEG
  'R0lGOD[dl]h', // GIF
  'SUkqA|TU0AK', // TIFF
  'UklGR.{6}(?:XRUJQ|XQVZF|BVkkg)', // RIFF: WebP, WAV, AVI
  'AAAA.[GWm2]Z0eXB', // ISO media: MP4, MOV, M4A, AVIF, HEIC
  'GkXfo', // Matroska, WebM
  'SUQz[AB]', // MP3 with ID3 tags
  'ZkxhQ', // FLAC
  'T2dnU', // Ogg
  'JVBERi0', // PDF
  'UEsDB', // ZIP, and with it DOCX, XLSX, PPTX, EPUB
  'H4sI', // gzip
  'KLUv/', // Zstandard
  '/Td6WF', // xz
  'N3q8ryc', // 7z
  'UEFSM', // Parquet
  'QVJST1cx', // Arrow
  'U1FMaXRlIGZvcm1hdCAz', // SQLite
  'd09GR|d09GM', // WOFF
  'AGFzb', // WebAssembly
  'OEJQU', // Photoshop
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
