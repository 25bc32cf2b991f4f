// Runs the contract tests of body stores on Miniflare's R2.
import test from 'node:test'
import { r2Bodies } from 'byref/stores'
import { testBodyStore } from 'byref/testing'
import { Miniflare } from 'miniflare'

const miniflare = new Miniflare({
  modules: true,
  script: 'export default { fetch: () => new Response(null) }',
  compatibilityDate: '2026-07-01',
  r2Buckets: ['MEDIA'],
})
const bucket = await miniflare.getR2Bucket('MEDIA')
let number = 0
const create = () => r2Bodies({ bucket, keyPrefix: `${number++}/` })
testBodyStore(create, (name, run) => test(name, run))
test.after(() => miniflare.dispose())
