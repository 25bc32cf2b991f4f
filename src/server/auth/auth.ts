import type { Context } from 'hono'
import { getCookie } from 'hono/cookie'
import { is, type OptionTable } from '../../core/check-options.ts'
import { ByrefError } from '../../core/errors.ts'
import type { Caller } from '../caller.ts'
import { type JwksOptions, jwksVerifier } from './jwks.ts'
import { readToken, signingKey } from './tokens.ts'

/** Who may use a server. Each option is one way to check a token; the first that accepts it decides. */
export interface AuthOptions {
  /** Signs and checks the tokens of `byref token` and the URLs of assets; 32 characters or more, kept secret. */
  secret?: string
  /** Accepts JWTs of an identity provider, checked by its public keys. */
  jwks?: JwksOptions
  /** Checks tokens of your own: resolves to the caller, or null. */
  verify?: (token: string) => Caller | null | Promise<Caller | null>
}

const JWKS: OptionTable<JwksOptions> = {
  ...is.all(is.required(is.string), 'url', 'issuer', 'audience'),
  ...is.all(is.string, 'namespaceClaim', 'roleClaim'),
}
export const AUTH_OPTIONS: OptionTable<AuthOptions> = {
  secret: is.string,
  jwks: is.group(JWKS),
  verify: is.callback(),
}

/** The cookie with the token of a browser session. */
export const SESSION_COOKIE = 'byref'

/** The caller if no token is needed: the user of this machine. */
const LOCAL_USER: Caller = { subject: 'local', namespace: null, role: 'owner' }

/** Checks the tokens of requests. Without options no token is needed. */
export class Auth {
  /** Whether a token is needed. */
  readonly required: boolean
  /** Signs the URLs of assets; null if no token is needed, or no secret was given. */
  readonly key: Uint8Array | null
  readonly #checks: NonNullable<AuthOptions['verify']>[]

  /** @throws ByrefError `config_invalid` for a secret that is too short, and for options without a way to check tokens */
  constructor(options: AuthOptions | undefined) {
    const { secret, jwks, verify } = options ?? {}
    const key = secret === undefined ? null : signingKey(secret)
    this.required = options !== undefined
    this.key = key
    this.#checks = [
      ...(key ? [(token: string) => readToken(key, token)] : []),
      ...(jwks ? [jwksVerifier(jwks)] : []),
      ...(verify ? [verify] : []),
    ]
    if (this.required && this.#checks.length === 0) {
      throw new ByrefError('config_invalid', 'auth needs secret, jwks or verify')
    }
  }

  /** Returns the caller with this token; null for an unknown token. */
  async read(token: string): Promise<Caller | null> {
    if (!this.required) return LOCAL_USER
    for (const check of this.#checks) {
      const caller = await check(token)
      if (caller) return caller
    }
    return null
  }

  /**
   * Returns the caller who sent a request. @throws ByrefError `unauthorized` if a valid token is needed and missing
   */
  async authenticate(c: Context): Promise<Caller> {
    if (!this.required) return LOCAL_USER
    const header = c.req.header('authorization') ?? ''
    const bearer = /^Bearer +([\w.~+/=-]+)$/i.exec(header)?.[1]
    const token = bearer ?? getCookie(c, SESSION_COOKIE)
    if (!token) {
      const message = 'This request needs a token: send it as "Authorization: Bearer …"'
      throw new ByrefError('unauthorized', message)
    }
    const caller = await this.read(token)
    if (caller) return caller
    throw invalidToken()
  }
}

/** Returns the error for a token that no check accepts. */
export function invalidToken(): ByrefError {
  return new ByrefError('unauthorized', 'The token has expired, or is not for this server')
}
