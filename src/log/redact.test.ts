import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { REDACTED, redact, redactText } from './redact.ts'

describe('redact', () => {
  it.each([
    'api_key',
    'apiKey',
    'APIKey',
    'X-API-Key',
    'x-api-key',
    'openai_api_key',
    'password',
    'dbPassword',
    'passwd',
    'Authorization',
    'Proxy-Authorization',
    'secret',
    'client_secret',
    'secretAccessKey',
    'accessKeyId',
    'token',
    'accessToken',
    'refresh_tokens',
    'X-Auth-Token',
    'Set-Cookie',
    'cookies',
    'private_key',
    'credentials',
    'sessionId',
    'passphrase',
    'jwt',
    'auth',
  ])('hides the value of %s', (name) => {
    expect(redact({ a: [{ [name]: 'v' }] })).toEqual({ a: [{ [name]: REDACTED }] })
    const deep = { [name]: { list: ['v', 1, true, null], of: { x: 'v' } } }
    expect(redact(deep)).toEqual({
      [name]: { list: [REDACTED, REDACTED, true, null], of: { x: REDACTED } },
    })
  })

  it.each([
    'max_tokens',
    'inputTokens',
    'tokens',
    'token_count',
    'tokenizer',
    'author',
    'keys',
    'key',
    'monkey',
    'public_key_id',
    'content',
    'secretary',
    'cookbook',
    'authored_by',
    'thoughtSignature',
  ])('keeps the value of %s', (name) => {
    const value = { [name]: 'v' }
    expect(redact(value)).toBe(value)
  })

  it.each([
    ['Bearer abc.def', `Bearer ${REDACTED}`],
    ['curl -H "Authorization: Basic dXNlcjpwYXNz" x', `curl -H "Authorization: ${REDACTED}" x`],
    ['Basic dXNlcjpwYXNz', `Basic ${REDACTED}`],
    ['Incorrect API key: sk-proj-abcdef123', `Incorrect API key: ${REDACTED}`],
    ['key sk-ant-api03-abc_def is bad', `key ${REDACTED} is bad`],
    ['AKIAIOSFODNN7EXAMPLE', REDACTED],
    ['ghp_abcdefghijklmnopqrstuvwxyz0123456789', REDACTED],
    ['AIzaSyA-1234567890abcdefghijklmnopqrstu', REDACTED],
    ['a eyJhbGciOi.eyJzdWIi.c2ln b', `a ${REDACTED} b`],
    ['postgres://me:pw@db:5432/x', `postgres://${REDACTED}@db:5432/x`],
    ['https://x.org/a?key=abc&page=2', `https://x.org/a?key=${REDACTED}&page=2`],
    ['https://x.org/?X-Amz-Signature=00ff&b=1', `https://x.org/?X-Amz-Signature=${REDACTED}&b=1`],
    ['{"password":"hunter2","user":"me"}', `{"password":"${REDACTED}","user":"me"}`],
    ['{\\"api_key\\": \\"abc\\"}', `{\\"api_key\\": \\"${REDACTED}\\"}`],
    ['access_token=abc; b', `access_token=${REDACTED}; b`],
    ['Cookie: a=b; c=d\nHost: x', `Cookie: ${REDACTED}\nHost: x`],
    [
      'x\n-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----\ny',
      `x\n${REDACTED}\ny`,
    ],
    ['-----BEGIN PRIVATE KEY-----\nMIIE cut', REDACTED],
  ])('hides text in the form of a secret in %j', (text, safe) => {
    expect(redactText(text)).toBe(safe)
    expect(redact([text])).toEqual([safe])
  })

  it.each([
    'Learn the basic ideas of max_tokens: 500',
    'https://example.org/a@b',
    'task-force',
    'mail me@x.org',
    'a key: value pair',
    'asset://ns/id/content',
    'the token count is 5',
    'sk-learn',
    'eyJ',
  ])('keeps %j', (text) => {
    expect(redactText(text)).toBe(text)
  })

  it('recognizes pairs of a name and a value, and raw headers', () => {
    expect(redact([{ name: 'Authorization', value: 'v', note: 'n' }])).toEqual([
      { name: 'Authorization', value: REDACTED, note: 'n' },
    ])
    expect(redact(['Host', 'x', 'Cookie', 'v', 'Accept', '*'])).toEqual([
      'Host',
      'x',
      'Cookie',
      REDACTED,
      'Accept',
      '*',
    ])
  })

  it('keeps the schema of a parameter with a secret name, but not its examples', () => {
    const password = { type: 'string', description: 'at least 8', minLength: 8 }
    const schema = { type: 'object', properties: { password, user: { type: 'string' } } }
    expect(redact(schema)).toBe(schema)
    expect(redact({ properties: { password: { ...password, examples: ['v'] } } })).toEqual({
      properties: { password: { ...password, examples: [REDACTED] } },
    })
    expect(redact({ properties: { password: 'v' } })).toEqual({
      properties: { password: REDACTED },
    })
  })

  it('keeps the structure, and returns the same value if nothing is redacted', () => {
    const clean = { a: [1, 'x', null, { b: true }], __proto: {} }
    expect(redact(clean)).toBe(clean)
    const odd = JSON.parse('{"__proto__":{"token":"v"},"a":1}')
    expect(JSON.stringify(redact(odd))).toBe('{"__proto__":{"token":"[redacted]"},"a":1}')
  })

  it('treats its own marker as part of a value', () => {
    const once = redact('://token://@')
    expect(once).toBe('://token:[redacted]')
    expect(redact(once)).toBe(once)
    expect(redact({ '://token=<}@': '' })).toEqual({ '://[redacted]@': '[redacted]' })
  })

  it('changes nothing the second time, and never throws', () => {
    const words = fc.constantFrom(
      'token',
      ': ',
      '=',
      'Bearer ',
      'password',
      'sk-',
      '"',
      '://',
      '@',
      'a',
      '\\',
    )
    const text = fc
      .array(fc.oneof(words, fc.string()), { maxLength: 12 })
      .map((parts) => parts.join(''))
    fc.assert(
      fc.property(fc.dictionary(text, fc.oneof(text, fc.jsonValue())), (value) => {
        const once = redact(value)
        expect(redact(once)).toEqual(once)
      }),
    )
  })

  it.each([
    'sk-',
    'eyJ',
    'eyJaaaaaaaa',
    'Bearer ',
    'a://',
    '-----BEGIN PRIVATE KEY',
    'token',
    'token ',
    'Basic ',
    '-----BEGIN A ',
    'authorization',
    'a.',
    'key=',
    '@',
    ':// ',
    'AKIA',
    'gh_',
    '\\"',
  ])('is linear in %j, many times over', (piece) => {
    // With quadratic time, this would take minutes. The test has seconds.
    const text = piece.repeat(200_000)
    expect(redactText(redactText(text))).toBe(redactText(text))
  })
})
