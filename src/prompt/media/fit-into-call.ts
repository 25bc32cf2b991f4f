import type { ModelCapabilities } from '../../model/model-capabilities.ts'
import type { MediaPart } from '../transcript-item.ts'
import type { Standings } from './standings.ts'

/**
 * The bodies that are too many for one call, by their keys: the newest go first, and equal ones count once. This is what
 * a provider would refuse; a budget of one's own is kept by compactions, which leave the prompt's beginning as it is.
 */
export function fitIntoCall(
  parts: readonly MediaPart[],
  standings: Standings,
  { perCall }: Pick<ModelCapabilities, 'perCall'>,
): ReadonlySet<string> {
  const room = { ...perCall }
  const seen = new Set<string>()
  const left = new Set<string>()
  for (const part of parts.toReversed()) {
    const standing = standings.find(part)
    if (standing?.type !== 'read' || seen.has(standing.key)) continue
    const { body, key } = standing
    if (body.type !== 'data' && body.type !== 'url') continue
    seen.add(key)
    const bytes = body.type === 'data' ? Math.ceil(body.base64.length * 0.75) : 0
    const kind = body.mime.startsWith('image/') ? 'images' : 'files'
    if (room.bytes < bytes || room[kind] < 1) {
      left.add(key)
      continue
    }
    room.bytes -= bytes
    room[kind]--
  }
  return left
}
