import { readFileSync } from 'node:fs'
import { flatten as flat, unflatten as unflat } from 'flat'
import type { AssetMeta } from '../../src/content/asset.ts'
import { flatten, unflatten } from '../../src/content/flatten.ts'
import { measure, printMachine } from './measure.ts'

// Ours beside the npm package `flat`, on the same input: movies.json of vega-datasets.
const file = new URL('../node_modules/vega-datasets/data/movies.json', import.meta.url)
const movies = JSON.parse(readFileSync(file, 'utf8'))
const meta = { asset_id: 'movies', content_type: 'application/json', content: movies } as AssetMeta
const options = { delimiter: '/' }
const lines = flatten(meta)
const flattened = flat(meta, options)

printMachine('flatten: movies.json')
measure('flatten (ours adds the containers’ type lines)', {
  byref: () => flatten(meta),
  'byref, keepContainerType: false': () => flatten(meta, { keepContainerType: false }),
  flat: () => flat(meta, options),
})
measure('unflatten', {
  byref: () => unflatten(lines),
  flat: () => unflat(flattened, options),
})
