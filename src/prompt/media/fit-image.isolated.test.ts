import { expect, it, vi } from 'vitest'
import { noisePng } from '../fixtures/bodies.ts'
import { fitImage } from './fit-image.ts'

it('warns once per process that images are sent unchanged without sharp', async () => {
  const warnings = vi.spyOn(process, 'emitWarning').mockImplementation(() => {})
  const limits = { mime: 'image/png', types: ['image/png'], maxSide: 100, maxBytes: 20_000 }
  const missing = () => Promise.reject(new Error('Cannot find the package'))
  for (const side of [20, 21]) await fitImage(await noisePng(side), limits, missing)
  expect(warnings.mock.calls.map(([warning]) => String(warning))).toEqual([
    'Warning: Images are sent to models unchanged. Resizing and converting images needs the package sharp, which is not installed: npm install sharp',
  ])
})
