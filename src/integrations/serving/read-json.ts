import { ByrefError } from '../../core/errors.ts'

/** A schema of any version of zod. */
interface Schema<Value> {
  safeParse(value: unknown): {
    success: boolean
    data?: Value
    error?: { issues: readonly { path: readonly PropertyKey[]; message: string }[] }
  }
}

/**
 * Reads the body of a request and checks its form.
 *
 * @param what The name of the form, for errors.
 * @throws ByrefError `bad_request` that names the invalid field
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
  throw new ByrefError(
    'bad_request',
    `The body is not a valid ${what}: ${place}: ${issue?.message}`,
  )
}
