/** The id of the element that an address's hash names; the hash itself where it is malformed. */
export function readHash(hash: string): string {
  try {
    return decodeURIComponent(hash)
  } catch {
    return hash
  }
}
