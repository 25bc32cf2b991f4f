/** Returns a body as base64. */
export async function base64Of(blob: Blob): Promise<string> {
  const bytes = new Uint8Array(await blob.arrayBuffer())
  let text = ''
  for (let i = 0; i < bytes.length; i += 30_000) {
    text += String.fromCharCode(...bytes.subarray(i, i + 30_000))
  }
  return btoa(text)
}

/** Decodes a body from base64. */
export function bytesOf(base64: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0))
}
