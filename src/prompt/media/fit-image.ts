import type { Sharp } from 'sharp'
import { missingPeer, optionalPeer } from '../../optional-peer.ts'

/** What an image must be to be taken. */
export interface ImageLimits {
  /** The type that its bytes have. */
  mime: string
  /** The types that are taken; the first where it fits. */
  types: readonly string[]
  maxSide: number
  maxBytes: number
}

/** An image that is taken, or why there is none. */
export type FittedImage =
  | { type: 'image'; bytes: Uint8Array; mime: string; advice?: string }
  | { type: 'failed'; why: string }

const FOR_IMAGES = 'Resizing and converting images'

/** A re-encoding that is tried until one fits. */
const QUALITIES = [85, 70, 50]
const SIDES = [1, 0.75, 0.5, 0.25]

/**
 * The image as it is where it may go so, else re-encoded by `sharp`: smaller, upright, in a type that is taken. What does
 * not decode is refused. Without `sharp` it goes as it is up to the limits. The same bytes always give the same.
 */
export async function fitImage(
  bytes: Uint8Array,
  limits: ImageLimits,
  load: () => Promise<typeof import('sharp')> = () => optionalPeer('sharp', FOR_IMAGES),
): Promise<FittedImage> {
  const { mime, types, maxBytes } = limits
  const library = await optionalLibrary(load)
  if (!library) return asItIs(bytes, limits)
  const open = (): Sharp => library.default(bytes, { failOn: 'error' }).timeout({ seconds: 60 })
  try {
    const { width, height, hasAlpha } = await open().metadata()
    const side = Math.max(width, height)
    if (types.includes(mime) && side <= limits.maxSide && bytes.byteLength <= maxBytes) {
      // Decodes all of it: a header alone does not show that the rest is there.
      await open().resize(8, 8, { fit: 'fill' }).raw().toBuffer()
      return { type: 'image', bytes, mime }
    }
    const target = Math.min(side, limits.maxSide)
    return await smaller(open, { ...limits, maxSide: target, isDrawn: hasAlpha || isDrawn(mime) })
  } catch (error) {
    return { type: 'failed', why: `it cannot be decoded (${lineOf(error)})` }
  }
}

async function smaller(
  open: () => Sharp,
  { types, maxSide, maxBytes, isDrawn }: ImageLimits & { isDrawn: boolean },
): Promise<FittedImage> {
  const canJpeg = types.includes('image/jpeg')
  for (const share of SIDES) {
    const side = Math.max(1, Math.floor(maxSide * share))
    const resized = (): Sharp =>
      open().autoOrient().resize(side, side, { fit: 'inside', withoutEnlargement: true })
    if (types.includes('image/png') && (isDrawn || !canJpeg)) {
      const png = await resized().png().toBuffer()
      if (png.byteLength <= maxBytes) return { type: 'image', bytes: png, mime: 'image/png' }
    }
    for (const quality of canJpeg ? QUALITIES : []) {
      const jpeg = await resized().flatten({ background: '#fff' }).jpeg({ quality }).toBuffer()
      if (jpeg.byteLength <= maxBytes) return { type: 'image', bytes: jpeg, mime: 'image/jpeg' }
    }
  }
  return { type: 'failed', why: `it cannot be made smaller than ${maxBytes} bytes` }
}

function asItIs(bytes: Uint8Array, { mime, types, maxBytes }: ImageLimits): FittedImage {
  const advice = missingPeer('sharp', FOR_IMAGES)
  if (!types.includes(mime)) {
    return { type: 'failed', why: `the model takes no ${mime}. ${advice}` }
  }
  if (bytes.byteLength <= maxBytes) return { type: 'image', bytes, mime, advice }
  const why = `it is larger than the ${maxBytes} bytes that the model takes. ${advice}`
  return { type: 'failed', why }
}

/** Whether sharp lines matter more than size: drawings and screens, not photos. */
function isDrawn(mime: string): boolean {
  return /png|gif|svg|bmp/.test(mime)
}

function lineOf(error: unknown): string {
  return String(error instanceof Error ? error.message : error).split('\n', 1)[0] ?? ''
}

/** An optional library; null where it is not installed or does not fit the machine. */
export async function optionalLibrary<T>(load: () => Promise<T>): Promise<T | null> {
  try {
    return await load()
  } catch {
    return null
  }
}
