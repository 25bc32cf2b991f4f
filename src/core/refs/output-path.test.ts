import { describe, expect, it } from 'vitest'
import { parseOutputPath } from './variable-ref.ts'

describe('parseOutputPath', () => {
  it.each([
    ['†state.summary', [[{ kind: 'state', path: ['summary'] }]]],
    ['†state', [[{ kind: 'state', path: [] }]]],
    ['†state#①.items[0]', [[{ kind: 'state', instance: '①', path: ['items', 0] }]]],
    [
      '†state.a && †log.b',
      [
        [
          { kind: 'state', path: ['a'] },
          { kind: 'log', path: ['b'] },
        ],
      ],
    ],
    [
      '†state.result && †log || †state.error',
      [
        [
          { kind: 'state', path: ['result'] },
          { kind: 'log', path: [] },
        ],
        [{ kind: 'state', path: ['error'] }],
      ],
    ],
  ])('reads %s', (text, targets) => {
    expect(parseOutputPath(text)).toStrictEqual(targets)
  })

  it.each(['', 'state.summary', '†', '†state.', '†a ||'])('rejects %j', (text) => {
    expect(() => parseOutputPath(text)).toThrow(
      expect.objectContaining({ code: 'invalid_reference' }),
    )
    expect(() => parseOutputPath(text)).toThrow('†state.summary')
  })
})
