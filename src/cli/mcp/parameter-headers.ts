import { isPlainObject } from '../../content/json.ts'

/** A tool, as a list of tools has it. */
interface ListedTool {
  name?: unknown
  inputSchema?: unknown
}

/**
 * The HTTP headers that repeat parameters of a call, as its tool asks by `x-mcp-header` (SEP-2243, since 2026-07-28):
 * servers refuse a call without them.
 */
export function parameterHeaders(
  { inputSchema }: ListedTool,
  args: unknown,
): Record<string, string> {
  const headers: Record<string, string> = {}
  function visit(schema: unknown, value: unknown): void {
    if (!isPlainObject(schema)) return
    const name = schema['x-mcp-header']
    if (typeof name === 'string' && /^(string|boolean|number)$/.test(typeof value)) {
      headers[`Mcp-Param-${name}`] = encoded(String(value))
    }
    for (const [key, one] of Object.entries(Object(schema.properties))) {
      if (isPlainObject(value) && Object.hasOwn(value, key)) visit(one, value[key])
    }
  }
  visit(inputSchema, args)
  return headers
}

/** A value as HTTP can carry it: in base64 what is no plain text, or could be taken for base64. */
function encoded(value: string): string {
  const isPlain = /^[\x21-\x7e]([\t\x20-\x7e]*[\x21-\x7e])?$/.test(value)
  return isPlain && !value.startsWith('=?base64?')
    ? value
    : `=?base64?${Buffer.from(value).toString('base64')}?=`
}
