import { isPlainObject, putKey } from '../core/json/json.ts'

/** Replaces a secret. */
export const REDACTED = '[redacted]'

/**
 * Returns JSON with the same structure, without secrets. It redacts values under names such as `api_key`, `password`,
 * `authorization` or `cookie`, also in pairs such as `{ name: 'Authorization', value }`. In text it redacts everything
 * that looks like a key, a token, a private key or a URL with a password. It takes linear time, and returns the same
 * value if there is no secret.
 * It recognizes only common forms. Do not log values that must stay secret in any case.
 */
export function redact(value: unknown): unknown {
  return redactJson(value, 'plain')
}

/** Returns a text without secrets. See {@link redact}. */
export function redactText(text: string): string {
  if (clean.has(text)) return text
  let safe = text
  for (let pass = 0; pass < MAX_PASSES; pass++) {
    const before = safe
    safe = withoutSecrets(before)
    if (safe === before) break
    // The new text may look like another secret, such as a URL with a password. So look again.
  }
  if (safe === text && text.length <= MAX_CLEAN) {
    if (clean.size === MAX_CLEAN) clean.clear()
    clean.add(text)
  }
  return safe
}

/** Maximum number of passes over a text, so that the time stays linear. */
const MAX_PASSES = 5

function withoutSecrets(text: string): string {
  let safe = text
  for (const [pattern, replacement] of PATTERNS) safe = safe.replace(pattern, replacement)
  return safe
}

/** Caches texts without secrets, because keys and tool descriptions are often repeated. */
const clean = new Set<string>()

/** Maximum number of these texts, and of the characters of each. */
const MAX_CLEAN = 1000

/**
 * `plain`: names and forms decide. `secret`: everything is secret. `schema`: describes a secret and may contain
 * examples.
 */
type Mode = 'plain' | 'secret' | 'schema'

function redactJson(value: unknown, mode: Mode): unknown {
  if (typeof value === 'string') return mode === 'secret' ? REDACTED : redactText(value)
  if (typeof value === 'number') return mode === 'secret' ? REDACTED : value
  if (Array.isArray(value)) return redactList(value, mode)
  return isPlainObject(value) ? redactObject(value, mode) : value
}

function redactList(list: readonly unknown[], mode: Mode): unknown {
  let changed = false
  const safe = list.map((item, i) => {
    // Raw headers alternate names and values.
    const isHeader = isHeaderName(list[i - 1])
    const made = redactJson(item, isHeader && typeof item === 'string' ? 'secret' : mode)
    changed ||= made !== item
    return made
  })
  return changed ? safe : list
}

function redactObject(object: Record<string, unknown>, mode: Mode): unknown {
  const named = typeof object.name === 'string' ? object.name : object.key
  const isPair = typeof named === 'string' && isSecretName(named)
  const safe: Record<string, unknown> = {}
  let changed = false
  for (const [key, value] of Object.entries(object)) {
    const made =
      key === 'properties' && isPlainObject(value) && mode !== 'secret'
        ? redactProperties(value)
        : redactJson(value, modeOf(key, mode, isPair))
    const name = redactText(key)
    changed ||= made !== value || name !== key
    putKey(safe, name, made)
  }
  return changed ? safe : object
}

function modeOf(key: string, mode: Mode, isPair: boolean): Mode {
  if (mode === 'secret' || isSecretName(key)) return 'secret'
  if (isPair && key === 'value') return 'secret'
  return mode === 'schema' && EXAMPLES.has(key) ? 'secret' : mode
}

/**
 * Redacts the properties of a JSON Schema. A property named `password` describes a parameter, and contains no value.
 */
function redactProperties(properties: Record<string, unknown>): unknown {
  const safe: Record<string, unknown> = {}
  let changed = false
  for (const [key, value] of Object.entries(properties)) {
    const secret = isSchema(value) ? 'schema' : 'secret'
    const made = redactJson(value, isSecretName(key) ? secret : 'plain')
    changed ||= made !== value
    putKey(safe, key, made)
  }
  return changed ? safe : properties
}

const TYPES: readonly unknown[] = 'string number integer boolean object array null'.split(' ')
const EXAMPLES: ReadonlySet<string> = new Set(['default', 'const', 'enum', 'example', 'examples'])

function isSchema(value: unknown): boolean {
  if (!isPlainObject(value)) return false
  const types = Array.isArray(value.type) ? value.type : [value.type]
  return types.every((type) => TYPES.includes(type)) || '$ref' in value || 'anyOf' in value
}

const HEADERS: ReadonlySet<string> = new Set(
  'authorization proxy-authorization cookie set-cookie x-api-key api-key x-auth-token'.split(' '),
)

function isHeaderName(item: unknown): boolean {
  return typeof item === 'string' && item.length < 30 && HEADERS.has(item.toLowerCase())
}

/** Matches names of secrets: by any of its words, by its last word, or by several words. */
const NAMES =
  /(?:^| )(?:pass ?words?|pass|passwd|pwd|pass ?phrases?|pass ?codes?|secrets?|credentials?|authorization|cookies?|bearer|jwt|(?:api|access|account|private|secret|signing|encryption|auth|master|shared|storage|ssh|license) ?keys?|(?:access|refresh|auth|id|session|api|csrf|xsrf|bearer|security) ?tokens?|session ?id)(?: |$)|(?:^| )(?:token|auth)$/

const known = new Map<string, boolean>()

function isSecretName(key: string): boolean {
  if (key.length > 100) return false
  let is = known.get(key)
  if (is === undefined) {
    is = NAMES.test(wordsOf(key))
    if (known.size < 10_000) known.set(key, is)
  }
  return is
}

/** Returns the words of a key: `x api key` for `xApiKey`, `X-API-Key` and `x_api_key`. */
function wordsOf(key: string): string {
  return key
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replace(/([A-Z])([A-Z][a-z])/g, '$1 $2')
    .replace(/[^A-Za-z0-9]+/g, ' ')
    .trim()
    .toLowerCase()
}

// Each pattern takes time linear in the text.
const PATTERNS: readonly (readonly [RegExp, string])[] = [
  [
    /-----BEGIN [A-Z ]*PRIVATE KEY(?: BLOCK)?-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY(?: BLOCK)?-----|$)/g,
    REDACTED,
  ],
  // https://user:password@host
  [/(:\/\/)[^\s/?#"'<>\\]*@/g, `$1${REDACTED}@`],
  [/\b(bearer\s+)[^\s"',;\\]+/gi, `$1${REDACTED}`],
  [/\b([Bb]asic\s+)(?=[a-z]*[A-Z0-9+/=])[A-Za-z0-9+/]{6,}=*/g, `$1${REDACTED}`],
  // Headers: the value ends with the line.
  [/((?:authorization|cookie)\\?["']?[ \t]*[:=][ \t]*\\?["']?)[^\r\n"'\\]+/gi, `$1${REDACTED}`],
  // name=value, name: value, "name":"value", also in the query of a URL
  [
    /((?:api[-_ ]?key|access[-_ ]?key(?:[-_ ]?id)?|private[-_ ]?key|token|secret|passwo?r?d|passwd|pwd|passphrase|[?&](?:key|sig|code|x-amz-(?:signature|credential|security-token))|\bkey(?==))\\?["']?[ \t]*[:=][ \t]*\\?["']?)(?:\[redacted\]|[^\s"'&,;\\}\])])+/gi,
    `$1${REDACTED}`,
  ],
  // --password value
  [/(--(?:password|passwd|pass|token|secret|api-key)[ \t]+)[^\s"']+/g, `$1${REDACTED}`],
  [/\b(?:sk|rk|pk)[-_][\w-]{6,}/g, REDACTED],
  [/\b(?:AKIA|ASIA)[A-Z0-9]{12,}/g, REDACTED],
  [/\b(?:gh[pousr]_|github_pat_|glpat-|xox[abeprs]-|AIza|ya29\.|npm_|hf_)[\w-]{16,}/g, REDACTED],
  [/(?<![\w-])eyJ[\w-]{6,}\.[\w-]{4,}(?:\.[\w-]*)?/g, REDACTED],
]
