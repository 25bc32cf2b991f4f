import type { AssetInfo } from 'byref/client'
import { describe, expect, it } from 'vitest'
import { message } from '../testing/messages.ts'
import { versionPlaces, withVersion } from './version-places.ts'

const saved = (kind: string, data: unknown, _instance?: string) =>
  message({
    message_type: 'note',
    content_type: 'data',
    content: { type: 'data', kind, data, ...(_instance ? { _instance } : {}) } as never,
  })
const version = (assetId: string, size: number) =>
  ({ assetId, ref: `asset://${assetId}`, size }) as AssetInfo

const ids = new Set(['v1', 'v2'])

describe('versionPlaces', () => {
  it('finds references as text and in objects, at any depth', () => {
    const found = versionPlaces(
      [
        saved('state', {
          report: 'asset://v1',
          other: 'asset://x',
          list: [{ assetRef: 'asset://v2' }],
        }),
        saved('doc', 'asset://v2/content/notes', 'a'),
        saved('state', { text: 'see asset://v1' }),
      ],
      ids,
    )
    expect(found.map(({ label, assetId }) => [label, assetId])).toEqual([
      ['†state.report', 'v1'],
      ['†state.list[0]', 'v2'],
      ['†doc#a', 'v2'],
    ])
  })

  it('reads the last written value', () => {
    const found = versionPlaces(
      [saved('state', { report: 'asset://v1' }), saved('state', { report: 'asset://v2' })],
      ids,
    )
    expect(found.map(({ assetId }) => assetId)).toEqual(['v2'])
  })
})

describe('withVersion', () => {
  const change = { from: version('v2', 20), to: version('v1', 10) }

  it('keeps a field path, and everything else in an object', () => {
    expect(withVersion({ value: 'asset://v2/content/notes' }, change)).toBe(
      'asset://v1/content/notes',
    )
    expect(
      withVersion({ value: { assetRef: 'asset://v2', name: 'a.md', size: 5 } }, change),
    ).toEqual({
      assetRef: 'asset://v1',
      name: 'a.md',
      size: 5,
    })
  })

  it('does not keep the size of the other version', () => {
    expect(withVersion({ value: { assetRef: 'asset://v2', size: 20 } }, change)).toEqual({
      assetRef: 'asset://v1',
      size: 10,
    })
  })
})
