import type { Context } from 'hono'
import type { z } from 'zod'
import { ByrefError } from '../core/errors.ts'

/** A problem with one field of a request. */
export interface RequestIssue {
  /** The path in the body or the query, keys joined by dots; empty for the whole. */
  path: string
  message: string
}

/** A request that does not match its schema, with every issue. */
export class RequestError extends ByrefError {
  readonly issues: readonly RequestIssue[]

  constructor(part: 'query' | 'body', issues: readonly RequestIssue[]) {
    const listed = issues
      .slice(0, 5)
      .map(({ path, message }) => (path ? `${path}: ${message}` : message))
    super('bad_request', `The ${part} of the request is invalid: ${listed.join('; ')}`)
    this.issues = issues
  }
}

/** Maximum size of a JSON body, in bytes. Files are uploaded as assets. */
const MAX_BODY = 4 * 1024 * 1024

/** Maximum depth of a JSON body. */
const MAX_DEPTH = 200

/**
 * Reads the JSON body of a request by a schema; an empty body is `{}`.
 *
 * @throws ByrefError `bad_request` with every issue; `body_too_large`, `too_deep`
 */
export async function readJson<T>(c: Context, schema: z.ZodType<T>): Promise<T> {
  const text = await readText(c)
  if (text === '') return parse(schema, {}, 'body')
  if (!c.req.header('content-type')?.toLowerCase().startsWith('application/json')) {
    throw new ByrefError('bad_request', 'The body must be JSON, with content-type application/json')
  }
  if (depthOf(text) > MAX_DEPTH) {
    throw new ByrefError('too_deep', `The JSON body is nested more than ${MAX_DEPTH} levels deep`)
  }
  let body: unknown
  try {
    body = JSON.parse(text)
  } catch (cause) {
    throw new ByrefError('bad_request', 'The body is not valid JSON', { cause })
  }
  return parse(schema, body, 'body')
}

async function readText(c: Context): Promise<string> {
  const encoding = c.req.header('content-encoding') || 'identity'
  if (encoding.toLowerCase() !== 'identity') {
    const message = `content-encoding ${encoding} is not supported: send the JSON as it is`
    throw new ByrefError('bad_request', message)
  }
  const bytes = await readBytes(c)
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch (cause) {
    throw new ByrefError('bad_request', 'The body is not valid UTF-8', { cause })
  }
}

/** Reads the body. Without a content-length, it is read only up to the limit. */
async function readBytes({ req }: Context): Promise<ArrayBuffer | Uint8Array> {
  const length = req.header('content-length')
  if (length !== undefined && Number(length) <= MAX_BODY) return req.arrayBuffer()
  if (length !== undefined) throw tooLarge()
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of req.raw.body ?? []) {
    size += chunk.byteLength
    if (size > MAX_BODY) throw tooLarge()
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

function tooLarge(): ByrefError {
  return new ByrefError(
    'body_too_large',
    `The JSON body is larger than ${MAX_BODY} bytes: upload files as assets`,
  )
}

/**
 * Parses a value by a schema.
 *
 * @param place The path of the value in the request.
 * @throws RequestError with every issue
 */
export function parse<T>(
  schema: z.ZodType<T>,
  value: unknown,
  part: 'query' | 'body',
  place: readonly string[] = [],
): T {
  const result = schema.safeParse(value)
  if (result.success) return result.data
  const issues = issuesOf(result.error.issues, place)
  // All forms that expect an object report the same issue.
  const distinct = new Map(issues.map((issue) => [JSON.stringify(issue), issue]))
  throw new RequestError(part, [...distinct.values()])
}

type Issues = readonly z.core.$ZodIssue[]

/** Returns issues with their full paths. For a union, returns the issues of the form that the value fits best. */
function issuesOf(issues: Issues, place: readonly PropertyKey[]): RequestIssue[] {
  return issues.flatMap((issue): RequestIssue[] => {
    const path = [...place, ...issue.path]
    if (issue.code === 'invalid_union') {
      return closest(issue.errors).flatMap((form) => issuesOf(form, path))
    }
    return [{ path: path.join('.'), message: issue.message }]
  })
}

/**
 * Returns the issues of the form that a value fits best. If no form has the value's type, returns those of all forms.
 */
function closest(forms: readonly Issues[]): readonly Issues[] {
  const hasNoType = forms.every((issues) => {
    return issues.every(({ path, code }) => path.length === 0 && code !== 'unrecognized_keys')
  })
  if (hasNoType) return forms
  const misfits = forms.map(misfit)
  return forms.slice(misfits.indexOf(Math.min(...misfits))).slice(0, 1)
}

/** Returns how far a value is from a form, by its keys. Problems inside its fields do not count. */
function misfit(issues: Issues): number {
  let sum = 0
  for (const issue of issues) {
    if (issue.code === 'unrecognized_keys') sum += issue.keys.length
    // A constant such as `op` tells the forms apart.
    else if (issue.code === 'invalid_value') sum += 2
    else if (issue.path.length <= 1) sum++
  }
  return sum
}

/** Returns how deep the brackets of a JSON text are nested, without parsing it. Brackets in strings do not count. */
function depthOf(text: string): number {
  let depth = 0
  let most = 0
  let inString = false
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (inString) {
      if (code === 92) i++
      else if (code === 34) inString = false
    } else if (code === 34) inString = true
    else if (code === 91 || code === 123) most = Math.max(most, ++depth)
    else if (code === 93 || code === 125) depth--
  }
  return most
}
