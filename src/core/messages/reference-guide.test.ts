import { expect, it } from 'vitest'
import { GUIDE, referenceGuide } from './reference-guide.ts'

it('includes only the topics that apply, in a fixed order', () => {
  expect(referenceGuide()).toBeNull()
  expect(referenceGuide({ assets: false })).toBeNull()
  expect(referenceGuide({ each: true, assets: true })).toBe(`${GUIDE.assets}\n${GUIDE.each}`)
  const all = Object.fromEntries(Object.keys(GUIDE).map((topic) => [topic, true]))
  expect(referenceGuide(all)?.length).toBeLessThan(2_000)
})
