import type { Context } from 'hono'
import { getCookie } from 'hono/cookie'
import { is, type OptionTable } from '../../core/check-options.ts'
import { ByrefError } from '../../core/errors.ts'
import type { Caller } from '../caller.ts'
import { type JwksOptions, jwksVerifier } from './jwks.ts'
import { readToken, signingKey } from './tokens.ts'

/** Who may use a server. Of several ways the first that knows the token decides. */
export interface AuthOptions {
  /** Signs and checks tokens of `byref token` and addresses of assets; 32 characters or more, kept secret. */
  secret?: string
  /** Tokens of an identity provider: JWTs, checked by its public keys. */
  jwks?: JwksOptions
  /** Tokens of your own: who it stands for, or null. */
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

/** How a server knows who asks. */
export interface Auth {
  /** Whether a token is needed. */
  required: boolean
  /** Signs addresses of assets; null where nothing is needed, or no secret was given. */
  key: Uint8Array | null
  /** Who a token stands for; null where nobody knows it. */
  read(token: string): Promise<Caller | null>
  /** Throws `unauthorized` where a token is needed and there is none that holds. */
  authenticate(c: Context): Promise<Caller>
}

/** The cookie that a browser's session is kept in. */
export const SESSION_COOKIE = 'byref'

/** Everybody, where no token is needed: this machine's own user. */
const ANYBODY: Caller = { subject: 'local', namespace: null, role: 'owner' }

/**
 * Makes the check of tokens; without options none is needed.
 *
 * @throws ByrefError `config_invalid` for a secret that is too short, or options that name no way
 */
export function createAuth(options: AuthOptions | undefined): Auth {
  if (options === undefined) {
    const authenticate = async () => ANYBODY
    return { required: false, key: null, read: authenticate, authenticate }
  }
  const { secret, jwks, verify } = options
  const key = secret === undefined ? null : signingKey(secret)
  const ways = [
    ...(key ? [(token: string) => readToken(key, token)] : []),
    ...(jwks ? [jwksVerifier(jwks)] : []),
    ...(verify ? [verify] : []),
  ]
  if (ways.length === 0) {
    throw new ByrefError('config_invalid', 'auth needs a secret, jwks or verify')
  }

  async function read(token: string): Promise<Caller | null> {
    for (const way of ways) {
      const caller = await way(token)
      if (caller) return caller
    }
    return null
  }

  return {
    required: true,
    key,
    read,
    async authenticate(c) {
      const token = bearer(c.req.header('authorization')) ?? getCookie(c, SESSION_COOKIE)
      if (!token) throw unauthorized('This needs a token: send Authorization: Bearer …')
      const caller = await read(token)
      if (!caller) throw unauthorized('The token is not for this server, or its time is over')
      return caller
    },
  }
}

function bearer(header: string | undefined): string | undefined {
  return /^Bearer +([\w.~+/=-]+)$/i.exec(header ?? '')?.[1]
}

function unauthorized(message: string): ByrefError {
  return new ByrefError('unauthorized', message)
}
