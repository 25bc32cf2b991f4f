import { createRemoteJWKSet, decodeJwt, errors, type JWTVerifyGetKey, jwtVerify } from 'jose'
import { ByrefError } from '../../core/errors.ts'
import type { Caller } from '../caller.ts'
import { callerOf } from './tokens.ts'

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
export function jwksVerifier(options: JwksOptions): (token: string) => Promise<Caller | null> {
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
