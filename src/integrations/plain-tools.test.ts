import { describe, expect, it } from 'vitest'
import { holdsReference } from './plain-tools.ts'

describe('holdsReference', () => {
  it('finds references in texts and objects, at any depth', () => {
    expect(holdsReference('see <|asset://a|>')).toBe(true)
    expect(holdsReference({ rows: [{ file: 'asset://a/content' }] })).toBe(true)
    expect(holdsReference([{ asset_id: 'a' }])).toBe(true)
    expect(holdsReference({ rows: [{ file: 'a' }], asset: null, id: 5n })).toBe(false)
  })

  it('ends for a value that contains itself', () => {
    const value: Record<string, unknown> = { name: 'a' }
    value.self = value
    expect(holdsReference(value)).toBe(false)
  })
})
