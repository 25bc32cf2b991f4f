import { expect, it } from 'vitest'
import { isTextType } from './mime-type.ts'

it('isTextType knows types that models read as text', () => {
  for (const type of [
    ...['text/plain', 'text/csv; charset=utf-8', 'application/json', 'application/ld+json'],
    ...['application/yaml', 'application/javascript', 'application/sql', 'image/svg+xml'],
  ])
    expect(isTextType(type), type).toBe(true)
  for (const type of ['image/png', 'application/pdf', 'application/octet-stream', 'video/mp4'])
    expect(isTextType(type), type).toBe(false)
})
