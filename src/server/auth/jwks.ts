import { createRemoteJWKSet, jwtVerify } from 'jose'
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
]

/** A check of tokens by an identity provider's keys, which are fetched when first needed and kept. */
export function jwksVerifier(options: JwksOptions): (token: string) => Promise<Caller | null> {
  const { url, issuer, audience, namespaceClaim = 'namespace', roleClaim = 'role' } = options
  const keys = createRemoteJWKSet(new URL(url))
  return async (token) => {
    try {
      const { payload } = await jwtVerify(token, keys, { issuer, audience, algorithms: ALGORITHMS })
      return callerOf(payload, { namespace: namespaceClaim, role: roleClaim })
    } catch {
      return null
    }
  }
}
