import type { JsonSchema } from '../../agent/tools/describe-schema.ts'
import type { AssetTool } from '../../assets/asset-tools.ts'
import { isPlainObject } from '../../content/json.ts'
import { type Fields, isUnknownMethod, type RpcMessage } from './json-rpc.ts'
import { describeTool, readingTools } from './reading-tools.ts'
import { shownTakingReferences, takingReferences } from './reference-arguments.ts'
import type { Ask } from './relay.ts'

/** The tools of a server, and those that are added, by the names that are free. */
export interface ToolCatalog {
  /** What a client is shown. */
  list: Fields
  /** Schemas of parameters that take references. */
  schemas: ReadonlyMap<unknown, JsonSchema>
  own: ReadonlyMap<unknown, AssetTool>
}

/** All tools that a server has, whose pages are one here, so that no name is taken twice. */
export async function readToolCatalog({ params }: RpcMessage, ask: Ask): Promise<ToolCatalog> {
  // Progress and the like are of the client's own request.
  const { progressToken: _, ...meta } = Object(params?._meta)
  const found: Fields[] = []
  let list: Fields = {}
  let cursor: unknown
  do {
    const asking = { ...(cursor ? { cursor } : {}), ...(params?._meta ? { _meta: meta } : {}) }
    const id = `byref-${crypto.randomUUID()}`
    const answer = await ask({ jsonrpc: '2.0', id, method: 'tools/list', params: asking })
    if (answer.error && !isUnknownMethod(answer)) throw answer.error
    const { tools = [], nextCursor, ...others } = answer.result ?? {}
    if (found.length === 0) list = others
    found.push(...(tools as Fields[]))
    cursor = nextCursor
  } while (cursor)
  const names = new Set(found.map(({ name }) => name))
  const own = new Map(readingTools().map((tool) => [freeName(tool.id, names), tool]))
  const added = [...own].map(([name, tool]) => describeTool(tool, name))
  const schemas = found.map(({ name, inputSchema }) => {
    return [name, takingReferences(Object(inputSchema))] as const
  })
  return {
    list: { ...list, tools: [...found.map(shown), ...added] },
    schemas: new Map(schemas),
    own,
  }
}

function freeName(id: string, taken: ReadonlySet<unknown>): string {
  return taken.has(id) ? freeName(`byref_${id}`, taken) : id
}

/** A tool as the client is shown it. */
function shown(tool: Fields): Fields {
  const { name, inputSchema, outputSchema } = tool
  const changed: Record<string, unknown> = {}
  if (isPlainObject(inputSchema)) {
    changed.inputSchema = shownTakingReferences(String(name), inputSchema)
  }
  if (isPlainObject(outputSchema)) changed.outputSchema = orReference(outputSchema)
  return { ...tool, ...changed }
}

const SPILLED = {
  type: 'object',
  properties: { assetRef: { type: 'string' }, spilled: { const: true } },
  required: ['assetRef', 'spilled'],
}

/**
 * The schema of structured content that may be a reference. Definitions stay where they are referred to; with references to other
 * places nothing is promised.
 */
function orReference({ $schema, $defs, definitions, ...rest }: JsonSchema): Fields | undefined {
  if (/"\$ref":"#(?!\/\$defs\/|\/definitions\/)/.test(JSON.stringify(rest))) return undefined
  const type = rest.type === 'object' ? rest.type : undefined
  return JSON.parse(JSON.stringify({ $schema, $defs, definitions, type, anyOf: [rest, SPILLED] }))
}
