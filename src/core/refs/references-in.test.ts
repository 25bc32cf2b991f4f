import { expect, it } from 'vitest'
import { referencesIn } from './references-in.ts'

it('referencesIn finds each reference once, as it is written', () => {
  const object = { asset_id: 'c', field_path: null }
  const value = {
    marked: 'See <|asset://a/content/x|> and asset://b.',
    json: `<| ${JSON.stringify(object)} |>`,
    whole: 'asset://d',
    list: [object],
  }
  expect(referencesIn(value).map(({ path, text }) => [path.join('.'), text])).toEqual([
    ['marked', 'asset://a/content/x'],
    ['marked', 'asset://b.'],
    ['json', JSON.stringify(object)],
    ['whole', 'asset://d'],
    ['list.0', JSON.stringify(object)],
  ])
})
