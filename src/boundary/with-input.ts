import type { Assets } from '../assets/assets-contract.ts'
import type { FieldKey } from '../core/refs/field-key.ts'
import { type HeldValue, resolveAssets } from './resolve-assets.ts'
import type { Tool } from './tool.ts'
import { validateInput } from './validate.ts'

/**
 * Uses the input of a tool: its arguments with the values of the assets that they refer to, checked by its schema. Streams
 * among them that were not read end with it.
 *
 * @throws ByrefError as `resolveAssets` and `validateInput`; what `use` throws
 */
export async function withInput<T>(
  tool: Tool,
  { args, assets }: { args: Record<string, unknown>; assets: () => Assets },
  use: (input: unknown) => T,
): Promise<Awaited<T>> {
  const resolved = await resolveAssets(tool, args, assets)
  try {
    const valid = await validateInput(tool, resolved.args)
    return await use(resolved.held.reduce(putBack, valid))
  } finally {
    resolved.release()
  }
}

/** The input with a held value in its place, unless the schema made something else of what stood there. */
function putBack(input: unknown, { path, text, value }: HeldValue): unknown {
  const put = (current: unknown, [key, ...rest]: readonly FieldKey[]): unknown => {
    if (key === undefined) return current === text ? value : current
    if (typeof current !== 'object' || current === null || !Object.hasOwn(current, key)) {
      return current
    }
    const copy = (Array.isArray(current) ? [...current] : { ...current }) as Record<
      FieldKey,
      unknown
    >
    copy[key] = put(copy[key], rest)
    return copy
  }
  return put(input, path)
}
