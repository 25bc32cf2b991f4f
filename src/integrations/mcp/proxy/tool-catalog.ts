import type { AssetTool } from '../../../assets/asset-tools.ts'
import type { JsonSchema } from '../../../boundary/describe-schema.ts'
import type { Tool } from '../../../boundary/tool.ts'
import { isPlainObject } from '../../../core/json/json.ts'
import { shownSchema } from '../../plain-tools.ts'
import { clientToolOf, READING_TOOLS } from '../assets-for-clients.ts'
import { serverTrust } from '../mcp-labels.ts'
import { filesFor, mcpTool } from '../reference-arguments.ts'
import { type Ask, type Fields, type RpcMessage, readPages } from '../rpc/json-rpc.ts'

/** The tools of a server, and those that are added to them. */
export type ToolCatalog = Awaited<ReturnType<typeof readToolCatalog>>

/** Reads all tools of a server. Their pages become one, so that an added tool never has the name of another. */
export async function readToolCatalog(
  request: RpcMessage,
  ask: Ask,
  { adding, files }: { adding: readonly AssetTool[]; files?: string },
) {
  const { items, rest } = await readPages({ ...request, method: 'tools/list' }, ask, 'tools')
  const found = items.filter(isPlainObject)
  const names = new Set(found.map(({ name }) => name))
  const free = (id: string): string => (names.has(id) ? free(`byref_${id}`) : id)
  const own = new Map(adding.map((tool) => [free(tool.id), tool]))
  return {
    /** The server's tools, as the client sees them. */
    shown: found.map(shown),
    /** The tools that are added to them. */
    added: [...own].map(([name, tool]) => clientToolOf(tool, name)),
    /** The other fields of the server's list. */
    rest,
    /** The server's tools, with what their annotations say for the trust policy. */
    tools: new Map(found.map((one) => [one.name, toolOf(one, filesFor(one, files))])),
    /** The added tools, by names that the server does not use. */
    own,
    readingTools: { fetch: free(READING_TOOLS.fetch), search: free(READING_TOOLS.search) },
  }
}

function toolOf({ name, inputSchema, outputSchema, annotations }: Fields, files?: string): Tool {
  const described = { annotations: Object(annotations), outputSchema }
  const { noteLabel: _noteLabel, ...declared } = serverTrust(described, 'trusted')
  return { ...mcpTool(String(name), Object(inputSchema), files), ...declared }
}

/** Returns a tool for the client: its parameters take references, and structured content may be one. */
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
 * Returns the schema of structured content that may also be a reference. Definitions keep their places, because `$ref`
 * names them. Undefined for a schema with a `$ref` to another place.
 */
function orReference({ $schema, $defs, definitions, ...rest }: JsonSchema): Fields | undefined {
  if (/"\$ref":"#(?!\/\$defs\/|\/definitions\/)/.test(JSON.stringify(rest))) return undefined
  const type = rest.type === 'object' ? rest.type : undefined
  const whole = { $schema, $defs, definitions, type, anyOf: [rest, OFFLOADED] }
  return JSON.parse(JSON.stringify(whole), withAnyText)
}

/** Removes the limits of a text from its schema, because clients check the text that stands for a long one, too. */
function withAnyText(_: string, value: unknown): unknown {
  if (!isPlainObject(value) || ![value.type].flat().includes('string')) return value
  const { pattern: _p, format: _f, minLength: _min, maxLength: _max, ...schema } = value
  return schema
}
