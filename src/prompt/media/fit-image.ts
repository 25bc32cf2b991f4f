import type { Sharp } from 'sharp'
import { errorMessage } from '../../core/errors.ts'
import { warn } from '../../core/in-background.ts'
import { missingPeer, optionalPeer } from '../../optional-peer.ts'

/** An image's type, and what the model accepts. */
export interface ImageLimits {
  /** The MIME type of its bytes. */
  mime: string
  /** The accepted MIME types. The first one is preferred. */
  types: readonly string[]
  maxSide: number
  maxBytes: number
}

/** An accepted image, or the reason why there is none. */
export type FittedImage =
  | { type: 'image'; bytes: Uint8Array; mime: string }
  | { type: 'failed'; why: string }

const FOR_IMAGES = 'Resizing and converting images'

/** Whether this process has warned that `sharp` is missing. */
let hasWarned = false

/** JPEG qualities, and shares of the maximum side, that are tried in this order until the image fits. */
const QUALITIES = [85, 70, 50]
const SIDES = [1, 0.75, 0.5, 0.25]

/**
 * Returns the image unchanged if the model accepts it. Otherwise `sharp` re-encodes it: smaller, upright, in an
 * accepted type. An image that cannot be decoded is rejected. Without `sharp`, the image is sent unchanged if it is
 * within the limits, and the process emits one warning. The same bytes always give the same result.
 */
export async function fitImage(
  bytes: Uint8Array,
  limits: ImageLimits,
  load: () => Promise<typeof import('sharp')> = () => optionalPeer('sharp', FOR_IMAGES),
): Promise<FittedImage> {
  const { mime, types, maxBytes } = limits
  const library = await optionalLibrary(load)
  if (!library) return unchanged(bytes, limits)
  const open = (): Sharp => library.default(bytes, { failOn: 'error' }).timeout({ seconds: 60 })
  try {
    const { width, height, hasAlpha, pages = 1 } = await open().metadata()
    const side = Math.max(width, height)
    const fits = side <= limits.maxSide && bytes.byteLength <= maxBytes
    // OpenAI rejects animations. Other models see only their first frame, which is what `sharp` reads.
    if (types.includes(mime) && fits && pages === 1) {
      // Decode the whole image: a valid header does not prove that the rest is valid.
      await open().resize(8, 8, { fit: 'fill' }).raw().toBuffer()
      return { type: 'image', bytes, mime }
    }
    const target = Math.min(side, limits.maxSide)
    return await reencode(open, { ...limits, maxSide: target, isDrawn: hasAlpha || isDrawn(mime) })
  } catch (error) {
    const [line] = errorMessage(error).split('\n', 1)
    return { type: 'failed', why: `it cannot be decoded (${line})` }
  }
}

async function reencode(
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

function unchanged(bytes: Uint8Array, { mime, types, maxBytes }: ImageLimits): FittedImage {
  const advice = missingPeer('sharp', FOR_IMAGES)
  if (!types.includes(mime)) {
    return { type: 'failed', why: `the model does not accept ${mime}. ${advice}` }
  }
  if (bytes.byteLength <= maxBytes) {
    if (!hasWarned) warn(`Images are sent to models unchanged. ${advice}`, null)
    hasWarned = true
    return { type: 'image', bytes, mime }
  }
  const why = `it is larger than the ${maxBytes} bytes that the model accepts. ${advice}`
  return { type: 'failed', why }
}

/** Whether lossless encoding suits the image: drawings and screenshots, not photos. */
function isDrawn(mime: string): boolean {
  return /png|gif|svg|bmp/.test(mime)
}

/** Loads an optional library; null if it is not installed or does not run on this machine. */
export async function optionalLibrary<T>(load: () => Promise<T>): Promise<T | null> {
  try {
    return await load()
  } catch {
    return null
  }
}
