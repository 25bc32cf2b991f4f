import { defu } from 'defu'
import { merge as esToolkit } from 'es-toolkit/compat'
import { merge as esToolkitStrict } from 'es-toolkit/object'
import lodash from 'lodash'
import { merge } from '../../src/content/merge.ts'
import { measure, printMachine } from './measure.ts'

// Deep merges of a patch into a state. Ours gives a new value and leaves the old one as it was; lodash and es-toolkit
// write into their first argument, so they are measured both so and on a copy, which is what ours does.
type Json = { [key: string]: unknown }

function state(size: number): Json {
  return Object.fromEntries(
    Array.from({ length: size }, (_, i) => [
      `key${i}`,
      { n: i, nested: { a: i, list: [1, 2, 3] }, text: 'some text' },
    ]),
  )
}

const patch = { key1: { n: 2, nested: { b: true } }, key7: { text: 'other' }, fresh: { x: 1 } }

printMachine('deep merge')
for (const size of [10, 50, 500]) {
  const base = state(size)
  const written = { lodash: state(size), esToolkit: state(size), strict: state(size) }
  measure(
    `a small patch into ${size} keys`,
    {
      byref: () => merge(base as never, patch as never),
      defu: () => defu(patch, base),
      'lodash.merge into itself': () => lodash.merge(written.lodash, patch),
      'lodash.merge into a copy': () => lodash.merge({}, base, patch),
      'es-toolkit compat into itself': () => esToolkit(written.esToolkit, patch),
      'es-toolkit into itself': () => esToolkitStrict(written.strict, patch),
      'es-toolkit into a copy': () => esToolkitStrict(structuredClone(base), patch),
    },
    { calls: 200 },
  )
}
