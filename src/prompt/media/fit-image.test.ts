import sharp from 'sharp'
import { describe, expect, it } from 'vitest'
import { fixture, noisePng } from '../fixtures/bodies.ts'
import { fitImage } from './fit-image.ts'
import { pdfPages } from './read-body.ts'

const missing = () => Promise.reject(new Error('Cannot find the package'))
const limits = {
  mime: 'image/png',
  types: ['image/png', 'image/jpeg'],
  maxSide: 100,
  maxBytes: 20_000,
}

describe('fitImage', () => {
  it('returns a fitting image unchanged', async () => {
    const png = await noisePng(20)
    expect(await fitImage(png, limits)).toEqual({ type: 'image', bytes: png, mime: 'image/png' })
  })

  it('shrinks an image until it fits, and a noisy photo as JPEG', async () => {
    const fitted = await fitImage(await noisePng(300), limits)
    if (fitted.type !== 'image') throw new Error(fitted.why)
    const { width, format } = await sharp(fitted.bytes).metadata()
    expect([width, format, fitted.mime]).toEqual([100, 'jpeg', 'image/jpeg'])
    expect(fitted.bytes.byteLength).toBeLessThanOrEqual(limits.maxBytes)
    expect(await fitImage(await noisePng(300), { ...limits, maxBytes: 10 })).toMatchObject({
      type: 'failed',
      why: expect.stringContaining('smaller than 10 bytes'),
    })
  })

  it('sends the first frame of an animation', async () => {
    const [first, second] = ['#f00', '#00f'].map((background) => ({
      create: { width: 30, height: 20, channels: 3, background } as const,
    }))
    const frames = await Promise.all([first, second].map((one) => sharp(one).png().toBuffer()))
    const animated = await sharp(frames, { join: { animated: true } })
      .gif()
      .toBuffer()
    const types = ['image/gif', 'image/png', 'image/jpeg']
    const fitted = await fitImage(animated, { ...limits, mime: 'image/gif', types })
    if (fitted.type !== 'image') throw new Error(fitted.why)
    const { data, info } = await sharp(fitted.bytes).raw().toBuffer({ resolveWithObject: true })
    expect([fitted.mime, info.width, info.height, ...data.subarray(0, 3)]).toEqual([
      ...['image/png', 30, 20],
      ...[255, 0, 0],
    ])
  })

  it('rotates an image upright', async () => {
    const raw = { create: { width: 60, height: 30, channels: 3, background: '#888' } } as const
    const turned = await sharp(raw).withMetadata({ orientation: 6 }).jpeg().toBuffer()
    const fitted = await fitImage(turned, { ...limits, mime: 'image/jpeg', maxSide: 40 })
    if (fitted.type !== 'image') throw new Error(fitted.why)
    expect(await sharp(fitted.bytes).metadata()).toMatchObject({ width: 20, height: 40 })
  })

  it('returns, without sharp, what the limits allow, or says what to install', async () => {
    const png = await noisePng(20)
    const advice = expect.stringContaining('npm install sharp')
    expect(await fitImage(png, limits, missing)).toEqual({
      type: 'image',
      bytes: png,
      mime: 'image/png',
    })
    const failed = { type: 'failed', why: advice }
    expect(await fitImage(png, { ...limits, maxBytes: 9 }, missing)).toEqual(failed)
    expect(await fitImage(png, { ...limits, mime: 'image/tiff' }, missing)).toEqual(failed)
  })
})

describe('pdfPages', () => {
  it('counts them even without its library', async () => {
    const pdf = fixture('gs.pdf')
    expect(await pdfPages(pdf, missing)).toBe(await pdfPages(pdf))
  })

  it('is null for a file that is not a PDF', async () => {
    expect(await pdfPages(new TextEncoder().encode('%PDF-1.4 and no more'))).toBe(null)
  })
})
