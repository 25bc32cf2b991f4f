import { describe, expect, it, vi } from 'vitest'
import { ByrefError, errorMessage } from './errors.ts'

const refused = new Error('connect ECONNREFUSED ::1:80')
const unreadable = {
  get message() {
    throw new Error('no')
  },
}

describe('errorMessage', () => {
  it.each<[string, unknown, string]>([
    ['an error', new Error('No such order'), 'No such order'],
    ['an error without a message', new TypeError(), 'TypeError'],
    ['a text', 'No such order', 'No such order'],
    ['nothing', undefined, 'undefined'],
    ['an object with a message', { status: 404, message: 'No such order' }, 'No such order'],
    ['a message inside', { error: { code: 'quota', message: 'No quota' } }, 'No quota'],
    ['an object without a message', { status: 404 }, '{"status":404}'],
    ['an object with a text of its own', new URL('https://a.example/'), 'https://a.example/'],
    [
      'a cause',
      new TypeError('fetch failed', { cause: refused }),
      `fetch failed: ${refused.message}`,
    ],
    [
      'a cause that the message has',
      new Error(`No: ${refused.message}`, { cause: refused }),
      `No: ${refused.message}`,
    ],
    ['several errors', new AggregateError([refused]), refused.message],
    [
      'several errors with a message of their own',
      new AggregateError([refused, new Error('No route'), refused], 'All failed'),
      `All failed: ${refused.message}; No route`,
    ],
    [
      'several errors as the cause',
      new TypeError('fetch failed', { cause: new AggregateError([refused]) }),
      `fetch failed: ${refused.message}`,
    ],
    [
      'an error of byref',
      new ByrefError('tool_failed', 'It failed', { cause: refused }),
      'It failed',
    ],
    ['an object that cannot be read', unreadable, 'a value was thrown that cannot be read'],
  ])('reads %s', (_, error, message) => {
    expect(errorMessage(error)).toBe(message)
  })

  it('reads an error that is its own cause', () => {
    const error = new Error('odd')
    error.cause = error
    expect(errorMessage(error)).toBe('odd')
  })
})

describe('ByrefError', () => {
  class NarrowError extends ByrefError {}

  it('recognizes the errors of another copy of byref, as of another route of Next.js', async () => {
    vi.resetModules()
    const other = await import('./errors.ts')
    expect(other.ByrefError).not.toBe(ByrefError)
    expect(new other.ByrefError('bad_request', 'No') instanceof ByrefError).toBe(true)
    expect(new other.ByrefError('bad_request', 'No') instanceof NarrowError).toBe(false)
  })

  it('recognizes its subclasses, and no other errors', () => {
    const narrow = new NarrowError('bad_request', 'No')
    expect([narrow instanceof ByrefError, narrow instanceof NarrowError]).toEqual([true, true])
    for (const other of [new Error('No'), { name: 'ByrefError', code: 'bad_request' }, null]) {
      expect(other instanceof ByrefError).toBe(false)
    }
  })
})
