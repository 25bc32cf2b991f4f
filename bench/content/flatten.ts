// node bench/content/flatten.ts: flatten beside the npm package flat, and beside the minimum work.
import { readFileSync } from 'node:fs'
import { flatten as flat } from 'flat'
import { assetMeta } from '../../src/core/messages/asset-meta.ts'
import { flatten } from '../../src/core/messages/flatten.ts'
import { measure, printMachine } from './measure.ts'

const file = new URL('../node_modules/vega-datasets/data/movies.json', import.meta.url)
const movies = JSON.parse(readFileSync(file, 'utf8')) as Record<string, unknown>[]
const meta = assetMeta({ asset_id: 'movies', content_type: 'application/json', content: movies })

printMachine('flatten')
compare('movies.json, 3,201 rows', movies, 40)
compare('the first 100 rows', movies.slice(0, 100), 400)
compare('its meta (100 rows)', meta, 400)

function compare(title: string, value: object, rounds: number): void {
  const names = Object.keys(flat(value, { delimiter: '/' }))
  const halves = names.map((name) => {
    const cut = name.lastIndexOf('/') + 1
    return [name.slice(0, cut), name.slice(cut)] as const
  })
  measure(
    title,
    {
      'flat 6': () => flat(value, { delimiter: '/' }),
      ours: () => flatten(value),
      'ours, without container lines': () => flatten(value, { keepContainerType: false }),
      // Joins each name once and sets it on an object. No flatten into an object can be faster.
      'only setting the names': () => {
        const out: Record<string, unknown> = {}
        for (const [start, end] of halves) out[start + end] = end
        return out
      },
    },
    { rounds },
  )
}
