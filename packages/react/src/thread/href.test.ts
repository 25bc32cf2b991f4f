import { describe, expect, it } from 'vitest'
import { readHref } from './href.ts'

const origin = 'http://127.0.0.1:4114'

describe('readHref', () => {
  it('stays in the app for its own paths and URLs', () => {
    expect(readHref('/c/1?tab=run#m-2', origin)).toEqual({ type: 'app', path: '/c/1?tab=run#m-2' })
    expect(readHref(`${origin}/c/1`, origin)).toEqual({ type: 'app', path: '/c/1' })
  })

  it('leaves the app for http and https', () => {
    expect(readHref('https://example.org/a', origin)).toEqual({
      type: 'external',
      url: 'https://example.org/a',
    })
    expect(readHref('HTTP://example.org', origin).type).toBe('external')
  })

  it.each([
    'javascript:alert(1)',
    ' JavaScript:alert(1)',
    'data:text/html,x',
    '//evil.example',
    '/\\evil.example',
    '/\t/evil.example',
    'mailto:a@b.c',
    'evil.example',
    'http://',
    '',
  ])('rejects %j', (href) => {
    expect(readHref(href, origin).type).toBe('rejected')
  })
})
