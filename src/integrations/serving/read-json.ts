import { ByrefError } from '../../core/errors.ts'

/** A schema of zod, of any version. */
interface Schema<Value> {
  safeParse(value: unknown): {
    success: boolean
    data?: Value
    error?: { issues: readonly { path: readonly PropertyKey[]; message: string }[] }
  }
}

/**
 * The body of a request, in the form that it should have.
 *
 * @param what What it is called in the error.
 * @throws ByrefError `bad_request` with the place of what is wrong
 */
export async function readJson<Value>(
  request: Request,
  schema: Schema<Value>,
  what: string,
): Promise<Value> {
  const { success, data, error } = schema.safeParse(await request.json().catch(() => null))
  if (success) return data as Value
  const [issue] = error?.issues ?? []
  const place = issue?.path.join('.') || 'body'
  throw new ByrefError('bad_request', `The body is no ${what}: ${place}: ${issue?.message}`)
}
