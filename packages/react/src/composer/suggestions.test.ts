import { expect, it } from 'vitest'
import { attach, onSuggestion, type Suggestion, suggestReference } from './suggestions.ts'

it('keeps a file for the next composer, if there is none yet', () => {
  const file = new File(['a'], 'a.csv')
  const [first, second]: Suggestion[][] = [[], []]
  attach(file)
  const end = onSuggestion(null, (one) => first?.push(one))
  end()
  onSuggestion(null, (one) => second?.push(one))()
  expect([first, second]).toEqual([[{ type: 'attach', file }], []])
})

it('offers an asset of a conversation to the composer of that conversation only', () => {
  const [first, second]: Suggestion[][] = [[], []]
  const ends = [
    onSuggestion('c1', (one) => first?.push(one)),
    onSuggestion('c2', (one) => second?.push(one)),
  ]
  const asset = { assetRef: 'asset://a1' }
  expect(suggestReference(asset, [], 'c2')).toBe(true)
  expect(suggestReference(asset, [], 'c3')).toBe(false)
  expect([first, second]).toEqual([[], [{ type: 'reference', asset, replaces: [] }]])
  for (const end of ends) end()
})
