import type { Context } from 'hono'
import { getCookie } from 'hono/cookie'
import { createRemoteJWKSet, decodeJwt, errors, type JWTVerifyGetKey, jwtVerify } from 'jose'
import { checkOptions, is, type OptionTable } from '../../core/check-options.ts'
import { ByrefError } from '../../core/errors.ts'
import { role } from '../../wire/server-info.ts'
import type { Caller } from '../caller.ts'
import { callerOf, readToken, signingKey } from './tokens.ts'

/** Who may use a server. Each option is one way to check a token; the first that accepts it decides. */
export interface AuthOptions {
  /** The secret that signs the tokens of `byref token` and the URLs of assets: at least 32 characters. */
  secret?: string
  /** Accepts JWTs of an identity provider, and checks them with its public keys. */
  jwks?: JwksOptions
  /** Checks tokens of your own. Returns the caller, or null for a token that it does not accept. */
  verify?: (token: string) => Caller | null | Promise<Caller | null>
}

const JWKS: OptionTable<JwksOptions> = {
  url: is.required(is.checked('a URL', (url) => URL.canParse(String(url)))),
  ...is.all(is.required(is.string), 'issuer', 'audience'),
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
      ...(verify ? [checked(verify)] : []),
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
    const bearer = /^Bearer +(\S+)$/i.exec(header)?.[1]
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

const CALLER: OptionTable<Caller> = {
  subject: is.required(is.string),
  // A misspelt claim must not put the callers of all tenants into one namespace.
  namespace: is.required(is.nullable(is.string)),
  role: is.required(is.oneOf(...role.options)),
  expiresAt: is.finite,
}

/** Checks what an app's own `verify` returns. The check throws ByrefError `config_invalid`. */
function checked(verify: NonNullable<AuthOptions['verify']>) {
  return async (token: string): Promise<Caller | null> => {
    const caller = await verify(token)
    if (!caller) return null
    const { subject, namespace, role, expiresAt } = caller
    const known: Caller = { subject, namespace, role, expiresAt }
    const { expiresAt: end = Infinity } = checkOptions('The result of auth.verify', known, CALLER)
    return end > Date.now() ? known : null
  }
}

/** Returns the error for a token that no check accepts. */
export function invalidToken(): ByrefError {
  return new ByrefError(
    'unauthorized',
    'The token is invalid or has expired, or another server made it',
  )
}

/** An identity provider whose JWTs are checked by its published keys (RFC 7517). */
export interface JwksOptions {
  /** The URL of the keys, such as `https://login.example/.well-known/jwks.json`. */
  url: string
  /** The `iss` of its tokens. */
  issuer: string
  /** The `aud` of tokens for this server. Tokens for others are rejected. */
  audience: string
  /** The claim with the namespace; default `namespace`. A token without the claim has no namespace. */
  namespaceClaim?: string
  /** The claim with the role; default `role`. A token without the claim is a reader's. */
  roleClaim?: string
}

/** Public keys only: everybody who checks a token with a shared secret could also sign one. */
const ALGORITHMS = 'RS256 RS384 RS512 PS256 PS384 PS512 ES256 ES384 ES512 EdDSA Ed25519'.split(' ')

/**
 * Creates a check of tokens by the keys of an identity provider. The keys are fetched when first needed, and cached for
 * ten minutes. It throws ByrefError `unreachable` if they cannot be fetched, because the token may still be valid.
 */
function jwksVerifier(options: JwksOptions): (token: string) => Promise<Caller | null> {
  const { url, issuer, audience, namespaceClaim = 'namespace', roleClaim = 'role' } = options
  const keys = remoteKeys(url)
  return async (token) => {
    try {
      // A token of another issuer is rejected without fetching keys.
      if (decodeJwt(token).iss !== issuer) return null
      const { payload } = await jwtVerify(token, keys, { issuer, audience, algorithms: ALGORITHMS })
      return callerOf(payload, { namespace: namespaceClaim, role: roleClaim })
    } catch (error) {
      if (error instanceof ByrefError) throw error
      return null
    }
  }
}

/** Errors of `jose` that mean a wrong token, and not unreachable keys. */
const TOKEN_ERRORS = [
  errors.JWKSNoMatchingKey,
  errors.JWKSMultipleMatchingKeys,
  errors.JOSENotSupported,
]

function remoteKeys(url: string): JWTVerifyGetKey {
  const keys = createRemoteJWKSet(new URL(url))
  return async (header, token) => {
    try {
      return await keys(header, token)
    } catch (error) {
      if (TOKEN_ERRORS.some((kind) => error instanceof kind)) throw error
      throw new ByrefError(
        'unreachable',
        'The keys that check tokens cannot be fetched: try again later',
        { cause: new Error(`No keys from ${url}`, { cause: error }) },
      )
    }
  }
}
