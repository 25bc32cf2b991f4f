// node bench/content/merge.ts: deep merge beside es-toolkit, lodash and defu.
import { readFileSync } from 'node:fs'
import { defu } from 'defu'
import { merge as mergeInPlace, toMerged } from 'es-toolkit'
// @ts-expect-error: it comes without types.
import lodash from 'lodash'
import { merge } from '../../src/core/board/write.ts'
import { copyJson } from '../../src/core/json/copy-json.ts'
import type { JsonValue } from '../../src/core/json/json.ts'
import { measure, printMachine } from './measure.ts'

type Fields = Record<string, unknown>

const file = new URL('../node_modules/vega-datasets/data/movies.json', import.meta.url)
const movies = JSON.parse(readFileSync(file, 'utf8')) as { Title: unknown }[]

const settings = {
  model: { id: 'x', temperature: 0.2, options: { a: 1, b: 2, c: { d: 1 } } },
  tools: ['a', 'b'],
  user: { name: 'Ann', address: { city: 'Paris', zip: '1' } },
  limits: { steps: 3, time: 10 },
}
const change = {
  model: { temperature: 0.5, options: { c: { e: 2 } } },
  user: { address: { city: 'Austin' } },
  extra: { x: 1 },
}
const byTitle = Object.fromEntries(movies.slice(0, 200).map((movie) => [movie.Title, movie]))
const ratings = Object.fromEntries(
  movies.slice(100, 300).map((movie, i) => [movie.Title, { rating: i, more: { a: i, b: [1, 2] } }]),
)

printMachine('deep merge')
compare('settings: 4 levels, 18 fields', settings, change, 2000)
compare('200 films by title and 200 changes', byTitle, ratings, 20)

function compare(title: string, base: Fields, patch: Fields, calls: number): void {
  const ours = copyJson(base)
  const ourPatch: JsonValue = copyJson(patch)
  measure(
    `${title}; both values stay as they were`,
    {
      ours: () => merge(ours, ourPatch),
      defu: () => defu(patch, base),
      'es-toolkit toMerged': () => toMerged(base, patch),
      'lodash merge({}, …)': () => lodash.merge({}, base, patch),
      'es-toolkit merge, copy of the base': () => mergeInPlace(structuredClone(base), patch),
    },
    { calls },
  )
  const target = structuredClone(base)
  measure(
    `${title}; for comparison, changing the base in place`,
    {
      'ours (in no place)': () => merge(ours, ourPatch),
      'es-toolkit merge': () => mergeInPlace(target, patch),
      'lodash merge': () => lodash.merge(target, patch),
    },
    { calls },
  )
}
