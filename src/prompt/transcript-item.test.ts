import { expect, it } from 'vitest'
import { isBody, type MediaPart } from './transcript-item.ts'

it.each([
  ['image', 'image/svg+xml', true],
  ['image', 'image/png', true],
  ['file', 'application/pdf', true],
  ['file', 'text/plain', false],
  ['file', 'application/sql', false],
] as const)('isBody of the %s %s is %s', (kind, mimeType, expected) => {
  const part: MediaPart = { type: 'media', kind, mimeType, ref: 'asset://x', fallback: 'note' }
  expect(isBody(part)).toBe(expected)
})
