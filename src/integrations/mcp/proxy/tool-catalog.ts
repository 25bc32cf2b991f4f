import type { AssetTool } from '../../../assets/asset-tools.ts'
import type { JsonSchema } from '../../../boundary/describe-schema.ts'
import type { Tool } from '../../../boundary/tool.ts'
import { isPlainObject } from '../../../core/json/json.ts'
import {
  describeTool,
  READING_TOOLS,
  type ReadingToolNames,
  readingTools,
} from '../reading-tools.ts'
import { mcpTool, shownSchema } from '../reference-arguments.ts'
import { type Fields, isUnknownMethod, type RpcMessage } from '../rpc/json-rpc.ts'
import type { Ask } from '../rpc/relay.ts'
import { serverTrust } from '../server-trust.ts'

/** The tools of a server, and those that are added, by the names that are free. */
export interface ToolCatalog {
  /** What a client is shown. */
  list: Fields
  /** The server's tools as its descriptions say what they are, for what may flow to them. */
  tools: ReadonlyMap<unknown, Tool>
  own: ReadonlyMap<unknown, AssetTool>
  readingTools: ReadingToolNames
}

/**
 * All tools that a server has, whose pages are one here, so that no name is taken twice.
 *
 * @param reading What is added to them.
 */
export async function readToolCatalog(
  { params }: RpcMessage,
  ask: Ask,
  reading: readonly AssetTool[] = readingTools(),
): Promise<ToolCatalog> {
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
  const free = (id: string): string => (names.has(id) ? free(`byref_${id}`) : id)
  const own = new Map(reading.map((tool) => [free(tool.id), tool]))
  const added = [...own].map(([name, tool]) => describeTool(tool, name))
  return {
    list: { ...list, tools: [...found.map(shown), ...added] },
    tools: new Map(found.map((one) => [one.name, toolOf(one)])),
    own,
    readingTools: { fetch: free(READING_TOOLS.fetch), search: free(READING_TOOLS.search) },
  }
}

function toolOf({ name, inputSchema, outputSchema, annotations }: Fields): Tool {
  const described = { annotations: Object(annotations), outputSchema } as never
  const { said: _, ...declared } = serverTrust(described, 'trusted')
  return { ...mcpTool(String(name), Object(inputSchema)), ...declared }
}

/** A tool as the client is shown it. */
function shown(tool: Fields): Fields {
  const { name, inputSchema, outputSchema } = tool
  const input = isPlainObject(inputSchema) && shownSchema(mcpTool(String(name), inputSchema))
  const output = isPlainObject(outputSchema) && { outputSchema: orReference(outputSchema) }
  return { ...tool, ...(input && { inputSchema: input }), ...output }
}

const OFFLOADED = {
  type: 'object',
  properties: { assetRef: { type: 'string' }, offloaded: { const: true } },
  required: ['assetRef', 'offloaded'],
}

/**
 * The schema of structured content that may be a reference. Definitions stay where they are referred to; with references to other
 * places nothing is promised.
 */
function orReference({ $schema, $defs, definitions, ...rest }: JsonSchema): Fields | undefined {
  if (/"\$ref":"#(?!\/\$defs\/|\/definitions\/)/.test(JSON.stringify(rest))) return undefined
  const type = rest.type === 'object' ? rest.type : undefined
  return JSON.parse(JSON.stringify({ $schema, $defs, definitions, type, anyOf: [rest, OFFLOADED] }))
}
