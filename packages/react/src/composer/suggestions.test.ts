import { expect, it } from 'vitest'
import { attach, onSuggestion, type Suggestion } from './suggestions.ts'

it('keeps a file for the next composer, if there is none yet', () => {
  const file = new File(['a'], 'a.csv')
  const [first, second]: Suggestion[][] = [[], []]
  attach(file)
  const end = onSuggestion((one) => first?.push(one))
  end()
  onSuggestion((one) => second?.push(one))()
  expect([first, second]).toEqual([[{ type: 'attach', file }], []])
})
