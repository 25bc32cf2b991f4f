/** Returns the id of the element that an address's hash names, or the hash itself if it is malformed. */
export function readHash(hash: string): string {
  try {
    return decodeURIComponent(hash)
  } catch {
    return hash
  }
}
