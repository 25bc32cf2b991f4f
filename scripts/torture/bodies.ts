import { digestOf } from '../../src/testing/asset-store/check.ts'

/** A body that can be made again from its number: `size` bytes, different for every number. */
export function bodyOf(number: number, size: number): Uint8Array {
  const bytes = new Uint8Array(size)
  let state = (number * 2_654_435_761) >>> 0
  for (let i = 0; i < size; i++) {
    state = (state * 1_664_525 + 1_013_904_223) >>> 0
    bytes[i] = state >>> 24
  }
  return bytes
}

/** A part of an asset, by its number, in the form that the store accepts. */
export function partOf(number: number, size: number): { digest: string; bytes: Uint8Array } {
  const bytes = bodyOf(number, size)
  return { digest: digestOf(bytes), bytes }
}
