import { createRemoteJWKSet, decodeJwt, errors, type JWTVerifyGetKey, jwtVerify } from 'jose'
import { ByrefError } from '../../core/errors.ts'
import type { Caller } from '../caller.ts'
import { callerOf } from './tokens.ts'

/** Tokens of an identity provider: JWTs that its published keys check (RFC 7517). */
export interface JwksOptions {
  /** Where the keys are, such as `https://login.example/.well-known/jwks.json`. */
  url: string
  /** The `iss` of its tokens. */
  issuer: string
  /** The `aud` of tokens for this server; those for others are refused. */
  audience: string
  /** The claim with the namespace; default `namespace`. A token without it has none. */
  namespaceClaim?: string
  /** The claim with the role; default `role`. A token without it reads only. */
  roleClaim?: string
}

/** Signatures by public keys alone: with a secret shared with an issuer anybody who checks could also sign. */
const ALGORITHMS = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
]

/**
 * A check of tokens by an identity provider's keys, which are fetched when first needed and kept for ten minutes. It throws
 * ByrefError `unreachable` where they cannot be fetched: that says nothing of the token.
 */
export function jwksVerifier(options: JwksOptions): (token: string) => Promise<Caller | null> {
  const { url, issuer, audience, namespaceClaim = 'namespace', roleClaim = 'role' } = options
  const keys = remoteKeys(url)
  return async (token) => {
    try {
      // Tokens of others need no keys to be refused.
      if (decodeJwt(token).iss !== issuer) return null
      const { payload } = await jwtVerify(token, keys, { issuer, audience, algorithms: ALGORITHMS })
      return callerOf(payload, { namespace: namespaceClaim, role: roleClaim })
    } catch (error) {
      if (error instanceof ByrefError) throw error
      return null
    }
  }
}

function remoteKeys(url: string): JWTVerifyGetKey {
  const keys = createRemoteJWKSet(new URL(url))
  return async (header, token) => {
    try {
      return await keys(header, token)
    } catch (error) {
      if (isAboutToken(error)) throw error
      throw new ByrefError(
        'unreachable',
        'The keys that check tokens cannot be fetched now: try again later',
        { cause: new Error(`No keys from ${url}`, { cause: error }) },
      )
    }
  }
}

/** Whether it is the token that names no key of those that there are. */
function isAboutToken(error: unknown): boolean {
  return [errors.JWKSNoMatchingKey, errors.JWKSMultipleMatchingKeys, errors.JOSENotSupported].some(
    (kind) => error instanceof kind,
  )
}
