import type { JSONSchema7, LanguageModelV4FunctionTool } from '@ai-sdk/provider'

/** Tools whose parameters have names that a provider accepts. */
export interface RenamedTools {
  tools: readonly LanguageModelV4FunctionTool[]
  /** Returns the arguments of a call with the tool's own names. */
  ownArguments(toolName: string, given: Record<string, unknown>): Record<string, unknown>
}

/** A tool's own names of its parameters, by the names that the model sees. */
type Names = ReadonlyMap<string, string>

/**
 * Renames parameters whose names the provider rejects, such as `filter[name]` and `$top` of some MCP servers. Otherwise
 * all requests with such a tool fail.
 *
 * @param accepted The names that the provider accepts.
 */
export function renameParameters(
  tools: readonly LanguageModelV4FunctionTool[],
  accepted: RegExp,
): RenamedTools {
  const renamed = new Map<string, Names>()
  const shown = tools.map((tool) => {
    const { properties = {} } = tool.inputSchema
    if (Object.keys(properties).every((name) => accepted.test(name))) return tool
    const names = namesOf(properties, accepted)
    renamed.set(tool.name, names)
    return { ...tool, inputSchema: withNames(tool.inputSchema, names) }
  })
  return {
    tools: shown,
    ownArguments(toolName, given) {
      const names = renamed.get(toolName)
      if (!names) return given
      const entries = Object.entries(given)
      return Object.fromEntries(entries.map(([name, one]) => [names.get(name) ?? name, one]))
    },
  }
}

/** Returns unique names that are accepted. Names that are accepted already stay. */
function namesOf(properties: object, accepted: RegExp): Names {
  const names = new Map<string, string>()
  for (const name of Object.keys(properties)) {
    const safe = accepted.test(name) ? name : name.replace(/[^\w.-]+/g, '_').slice(0, 60)
    let unique = safe
    const isTaken = () =>
      names.has(unique) || (unique !== name && Object.hasOwn(properties, unique))
    for (let n = 2; isTaken(); n++) unique = `${safe}_${n}`
    names.set(unique, name)
  }
  return names
}

function withNames(schema: JSONSchema7, names: Names): JSONSchema7 {
  const { properties = {}, required = [] } = schema
  const all = [...names]
  const shown = all.flatMap(([name, own]) => (required.includes(own) ? name : []))
  return {
    ...schema,
    properties: Object.fromEntries(all.map(([name, own]) => [name, properties[own] ?? true])),
    ...(shown.length > 0 ? { required: shown } : {}),
  }
}
