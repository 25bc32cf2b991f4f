import { describe, expect, it } from 'vitest'
import { attachment, fileName } from '../assets/asset-response.ts'

describe('fileName', () => {
  it.each([
    ['Four years of weather', 'Four years of weather'],
    ['Größe: 3/4 "gut"?', 'Größe 3 4 gut'],
    ['../../etc/passwd\u0000\u202egnp', 'etc passwd gnp'],
    ['   ', 'conversation'],
    ['', 'conversation'],
    ['字'.repeat(200), '字'.repeat(80)],
    ['🚲'.repeat(100), '🚲'.repeat(80)],
  ])('makes of %j what every system takes', (title, name) => {
    expect(fileName(title, '2026-02-03T04:05:06.789Z', 'jsonl')).toBe(`${name} 2026-02-03.jsonl`)
  })
})

describe('attachment', () => {
  it('encodes any name in the characters of a header', () => {
    expect(attachment("it's (ä) \ud800.txt")).toBe(
      "attachment; filename*=UTF-8''it%27s%20%28%C3%A4%29%20%EF%BF%BD.txt",
    )
  })
})
