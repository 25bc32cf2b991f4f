import { expect, it } from 'vitest'
import { assetNotFound } from './asset-record.ts'

it.each([
  ['nokey', 'doc', 'asset://doc/content/nokey'],
  ['content[0].v', 'doc', 'asset://doc/content/0/v'],
  ['rows[2]["a b"]', 'doc', 'asset://doc/content/rows/2/a%20b'],
  ['1m8np00doc[0].v', undefined, 'asset://1m8np00doc/content/0/v'],
  ['doc.content[0]', undefined, 'asset://doc/content/0'],
])('says how to write %s as a field of %s', (id, namespace, advice) => {
  expect(assetNotFound(id, namespace).message).toContain(`, write ${advice}.`)
})

it('gives no advice on an ordinary id', () => {
  expect(assetNotFound('doc').message).toBe('There is no asset "doc" here.')
})
