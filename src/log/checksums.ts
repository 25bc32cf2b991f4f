import { crc32 } from 'node:zlib'

/** Returns the checksum of an event at its position. Databases store this sum plus the event's time. */
export function eventSum(position: number, event: string): number {
  return crc32(event, position)
}

const SEAL_LENGTH = 8

/** Returns text with its checksum in front. */
export function seal(text: string): string {
  return crc32(text).toString(16).padStart(SEAL_LENGTH, '0') + text
}

/** Returns the text that was passed to {@link seal}. Null for damaged data of any type. */
export function unseal(sealed: unknown): string | null {
  const text = String(sealed).slice(SEAL_LENGTH)
  return seal(text) === sealed ? text : null
}
