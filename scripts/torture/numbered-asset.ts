import { bodyOf, partOf } from './bodies.ts'

/** An asset that can be made again from its number. */
export interface NumberedAsset {
  body: Uint8Array
  namespace: string | null
  /** If absent, the store chooses the id. */
  assetId: string | undefined
  parts: { digest: string; bytes: Uint8Array }[]
  /** Whether it is removed again at once. */
  removed: boolean
}

/**
 * Makes small and large assets, with equal and different bodies, with and without parts, in two namespaces, all in
 * turn.
 */
export function numberedAsset(number: number): NumberedAsset {
  // Small ones are written together.
  const size = number % 10 === 0 ? 200_000 : 300 + (number % 40) * 25
  const parts = [partOf(number % 33, 400), partOf(1_000_000 + number, 100_000)]
  return {
    body: bodyOf(number % 7 === 0 ? 0 : number, size),
    namespace: number % 4 === 1 ? 'other' : null,
    assetId: number % 6 === 1 ? `chosen/${number}` : undefined,
    parts: number % 11 === 0 ? parts : number % 3 === 0 ? parts.slice(0, 1) : [],
    removed: number % 5 === 0,
  }
}
