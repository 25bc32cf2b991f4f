/**
 * Returns the memory of a view as a Buffer, without a copy. It is in a separate file, because public types must not
 * depend on `Buffer`, which TypeScript knows only with Node's types.
 */
export function bufferOf({ buffer, byteOffset, byteLength }: ArrayBufferView): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength)
}
