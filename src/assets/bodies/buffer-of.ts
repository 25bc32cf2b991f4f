/**
 * Returns the memory of a view as a Buffer, without a copy. It has a file of its own: public types must not lead to
 * `Buffer`, which TypeScript knows only with the types of Node.
 */
export function bufferOf({ buffer, byteOffset, byteLength }: ArrayBufferView): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength)
}
