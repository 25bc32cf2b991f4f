import { jwtVerify, SignJWT } from 'jose'
import { checkOptions, checkValue, is, type OptionTable } from '../../core/check-options.ts'
import { ByrefError } from '../../core/errors.ts'
import { role } from '../../wire/server-info.ts'
import type { Caller } from '../caller.ts'

/** The caller that a token identifies, and how long it is valid. */
export interface TokenClaims extends Omit<Caller, 'expiresAt'> {
  /** Seconds from now, or text such as `30d` or `12h`. */
  expiresIn: number | string
}

/** One asset, or a field of it, that a signed URL opens without a token. */
export interface AssetGrant {
  namespace: string | null
  assetId: string
  /** As in the URL; null for the whole asset. */
  path: string | null
}

const ISSUER = 'byref'
const FOR_API = 'byref'
const FOR_ASSETS = 'byref-assets'

/** Minimum length of a secret for HMAC with SHA-256, in characters (RFC 7518, section 3.2). */
const SECRET_LENGTH = 32

/**
 * Creates a key from a secret. The key signs tokens (JWT, HS256) and URLs of assets.
 *
 * @throws ByrefError `config_invalid` for a secret of less than 32 characters
 */
export function signingKey(secret: string): Uint8Array {
  checkValue(is.string, secret, 'The secret that signs tokens')
  if (secret.length >= SECRET_LENGTH) return new TextEncoder().encode(secret)
  throw new ByrefError(
    'config_invalid',
    `The secret that signs tokens has ${secret.length} characters: use ${SECRET_LENGTH} or more`,
  )
}

/** Whether a text is a duration such as `12h` or `30d`. */
export function isDuration(text: unknown): boolean {
  return typeof text === 'string' && /^0*[1-9]\d* ?[smhdwy]$/.test(text)
}

const DURATION = is.checked<string>('text such as "12h" or "30d"', isDuration)

const CLAIMS: OptionTable<TokenClaims> = {
  subject: is.required(is.string),
  namespace: is.required(is.nullable(is.string)),
  role: is.required(is.oneOf(...role.options)),
  expiresIn: is.required(is.either(is.finite, DURATION)),
}

/**
 * Creates a token that a server with this key accepts.
 *
 * @throws ByrefError `config_invalid` for claims of the wrong form
 */
export async function signToken(key: Uint8Array, claims: TokenClaims): Promise<string> {
  const { subject, namespace, role, expiresIn } = checkOptions('signToken', claims, CLAIMS)
  return new SignJWT({ namespace, role })
    .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
    .setSubject(subject)
    .setIssuer(ISSUER)
    .setAudience(FOR_API)
    .setIssuedAt()
    .setExpirationTime(typeof expiresIn === 'number' ? inSeconds(expiresIn) : expiresIn)
    .sign(key)
}

/** Returns the caller that a token identifies; null for an expired token, and for one that this key did not sign. */
export async function readToken(key: Uint8Array, token: string): Promise<Caller | null> {
  const payload = await verified(key, token, FOR_API)
  return payload && callerOf(payload)
}

/** Returns the caller that the claims of a token describe, or null. A token without a role is a reader's. */
export function callerOf(
  claims: Record<string, unknown>,
  names: { namespace: string; role: string } = { namespace: 'namespace', role: 'role' },
): Caller | null {
  const namespace = claims[names.namespace] ?? null
  const parsedRole = role.safeParse(claims[names.role] ?? 'reader')
  if (typeof claims.sub !== 'string' || !parsedRole.success) return null
  if (namespace !== null && typeof namespace !== 'string') return null
  const expiresAt = typeof claims.exp === 'number' ? claims.exp * 1000 : undefined
  return { subject: claims.sub, namespace, role: parsedRole.data, expiresAt }
}

/** Signs the URL of an asset, for `expiresIn` seconds from now. */
export async function signGrant(
  key: Uint8Array,
  { namespace, assetId, path }: AssetGrant,
  expiresIn: number,
): Promise<string> {
  return new SignJWT({ namespace, path })
    .setProtectedHeader({ alg: 'HS256' })
    .setSubject(assetId)
    .setIssuer(ISSUER)
    .setAudience(FOR_ASSETS)
    .setExpirationTime(inSeconds(expiresIn))
    .sign(key)
}

/**
 * Returns the asset that a signature opens. Null for an expired signature, and for one that this key did not create.
 */
export async function readGrant(key: Uint8Array, signature: string): Promise<AssetGrant | null> {
  const payload = await verified(key, signature, FOR_ASSETS)
  if (typeof payload?.sub !== 'string') return null
  const { sub, namespace, path } = payload as { sub: string } & Omit<AssetGrant, 'assetId'>
  return { assetId: sub, namespace, path }
}

function inSeconds(seconds: number): number {
  return Math.floor(Date.now() / 1000) + seconds
}

async function verified(key: Uint8Array, token: string, audience: string) {
  try {
    const options = { issuer: ISSUER, audience, algorithms: ['HS256'] }
    return (await jwtVerify(token, key, options)).payload
  } catch {
    return null
  }
}
