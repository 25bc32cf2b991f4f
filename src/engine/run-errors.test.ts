import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ByrefError } from '../core/errors.ts'
import { callError } from './run-errors.ts'

const refuse = (): never => {
  throw new Error('no')
}
const unreadable = new Proxy({}, { get: refuse, getPrototypeOf: refuse, has: refuse })

describe('callError', () => {
  it('keeps the code of a ByrefError, and reports anything else as a failure of the tool', () => {
    expect(callError(new ByrefError('asset_not_found', 'gone'))).toEqual({
      code: 'asset_not_found',
      message: 'gone',
    })
    expect(callError(new TypeError('broken'))).toEqual({ code: 'tool_failed', message: 'broken' })
    expect(callError('text')).toEqual({ code: 'tool_failed', message: 'text' })
    expect(callError(new Error())).toEqual({ code: 'tool_failed', message: 'Error' })
  })

  it.each<[string, unknown]>([
    ['nothing', undefined],
    ['null', null],
    ['a symbol', Symbol('x')],
    ['an object without a prototype', Object.create(null)],
    ['an object whose text throws', { toString: refuse }],
    ['a proxy that refuses everything', unreadable],
    ['a revoked proxy', revoked()],
    [
      'an error whose message throws',
      Object.defineProperty(new Error(), 'message', { get: refuse }),
    ],
    ['an error whose message is no text', Object.assign(new Error(), { message: { a: 1 } })],
    ['an error whose message cannot be text', Object.assign(new Error(), { message: unreadable })],
    ['an error whose name throws', Object.defineProperty(new Error(), 'name', { get: refuse })],
  ])('never throws: %s', (_, thrown) => {
    const { code, message } = callError(thrown)
    expect(code).toBe('tool_failed')
    expect(typeof message).toBe('string')
  })

  it('is never long, and states the original length', () => {
    const { message } = callError(new Error('x'.repeat(1_000_000)))
    expect(message).toMatch(/^x{4000}… \(1000000 characters in total\)$/)
    expect(callError(new Error('x'.repeat(4000))).message).toHaveLength(4000)
  })

  it('is always text that can be stored', () => {
    const { message } = callError(`${'x'.repeat(3999)}😀`)
    expect(message.isWellFormed()).toBe(true)
    expect(callError('\ud800').message).toBe('\ufffd')
  })

  it('accepts any value', () => {
    fc.assert(
      fc.property(fc.anything({ withNullPrototype: true, withObjectString: true }), (thrown) => {
        const { message } = callError(thrown)
        expect(message.length).toBeLessThan(4100)
      }),
    )
  })
})

function revoked(): unknown {
  const { proxy, revoke } = Proxy.revocable({}, {})
  revoke()
  return proxy
}
