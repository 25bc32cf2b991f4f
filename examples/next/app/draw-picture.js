import { crc32, deflateSync } from 'node:zlib'

const SIDE = 256

/** A PNG of 200 kB: stripes, with noise that does not compress. */
export function drawPicture() {
  const row = (y) => {
    const pixels = Buffer.alloc(1 + SIDE * 3)
    for (let i = 1; i < pixels.length; i++)
      pixels[i] = y % 32 < 16 ? 200 + (random() % 56) : random()
    return pixels
  }
  let seed = 1
  const random = () => {
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0
    return seed >>> 24
  }
  const header = Buffer.alloc(13)
  header.writeUInt32BE(SIDE, 0)
  header.writeUInt32BE(SIDE, 4)
  header.set([8, 2], 8)
  const pixels = deflateSync(Buffer.concat(Array.from({ length: SIDE }, (_, y) => row(y))))
  const signature = Buffer.from('89504e470d0a1a0a', 'hex')
  const chunks = [chunk('IHDR', header), chunk('IDAT', pixels), chunk('IEND', Buffer.alloc(0))]
  return new Uint8Array(Buffer.concat([signature, ...chunks]))
}

function chunk(type, data) {
  const named = Buffer.concat([Buffer.from(type), data])
  const length = Buffer.alloc(4)
  length.writeUInt32BE(data.length)
  const check = Buffer.alloc(4)
  check.writeUInt32BE(crc32(named))
  return Buffer.concat([length, named, check])
}
