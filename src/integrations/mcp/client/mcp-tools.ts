import type { CallToolResult, Client, Tool as McpTool } from '@modelcontextprotocol/client'
import type { Tool, ToolContext } from '../../../boundary/tool.ts'
import { checkOptions, is, type OptionTable } from '../../../core/check-options.ts'
import { ByrefError } from '../../../core/errors.ts'
import { ACCEPTS } from '../../../policies/trust/check-flow.ts'
import { dataInText } from '../../json-in-text.ts'
import { shownSchema } from '../../plain-tools.ts'
import { saveBody } from '../assets-for-clients.ts'
import { freeName } from '../join/shared-names.ts'
import { metaOf, type ServerTrust, serverTrust } from '../mcp-labels.ts'
import { mcpTool, resolveArguments } from '../reference-arguments.ts'

/** Options of {@link mcpTools}. */
export interface McpToolsOptions {
  /** A prefix for the names of the tools, such as `files_`, so that the tools of several servers differ. */
  prefix?: string
  /** Selects tools of the server. Default: all. */
  include?(tool: McpTool): boolean
  /**
   * Whether a person must approve a call. Default: yes, unless the server declares the tool read-only or
   * non-destructive.
   */
  needsApproval?(tool: McpTool): boolean
  /** Whether resources behind links in results are read and stored as assets. Default true. */
  followLinks?: boolean
  /**
   * A folder of this machine, for a server that runs here. A parameter that takes the path of a file then takes
   * references, too: the asset is saved there, and the server gets its path. Default: no parameter does.
   */
  files?: string
  /**
   * Whether byref uses the server's annotations, and the labels in the `_meta` of its results, if trust is on. Default
   * `untrusted`: each tool counts as one that acts, each result is untrusted, and a label can only make it stricter.
   */
  trust?: ServerTrust
}

const OPTIONS: OptionTable<McpToolsOptions> = {
  prefix: is.string,
  include: is.callback(),
  needsApproval: is.callback(),
  followLinks: is.boolean,
  files: is.string,
  trust: is.oneOf('trusted', 'untrusted'),
}

/** Disables the SDK's own time limit. The agent's limit applies instead (`limits.callTimeoutMs`). */
const NO_TIMEOUT = 2 ** 31 - 1

/**
 * Returns the tools of an MCP server as tools of an agent. Any parameter takes references to assets. Images, audio,
 * embedded resources and links in results become assets. A tool that the server declares read-only or idempotent is
 * idempotent here.
 *
 * @param client A connected client of the MCP SDK.
 */
export async function mcpTools(client: Client, options: McpToolsOptions = {}): Promise<Tool[]> {
  checkOptions('mcpTools', options, OPTIONS)
  const { prefix = '', include = () => true, needsApproval = isDestructive } = options
  const { trust = 'untrusted' } = options
  const found: McpTool[] = []
  let cursor: string | undefined
  do {
    const page = await client.listTools({ cursor })
    found.push(...page.tools)
    cursor = page.nextCursor
  } while (cursor)
  const taken = new Set<string>()
  return found.filter(include).map((tool) => {
    const { name, title, description, inputSchema, annotations = {} } = tool
    const id = freeName(`${prefix}${name}`, taken)
    taken.add(id)
    const described = mcpTool(id, withoutAccepts(inputSchema), options.files)
    const { noteLabel, ...declared } = serverTrust(tool, trust)
    return {
      id,
      description: description ?? title ?? name,
      inputSchema: shownSchema(described),
      // resolveArguments puts values in their place.
      references: 'declared',
      idempotent: annotations.readOnlyHint ?? annotations.idempotentHint ?? false,
      needsApproval: needsApproval(tool),
      ...declared,
      async execute(input, context) {
        const args = await resolveArguments(described, input as Record<string, unknown>, {
          assets: context.assets,
          files: options.files,
        })
        const given = context.trust && { _meta: metaOf(context.trust.input) }
        const answer = await callTool(client, { name, arguments: args, ...given }, context)
        noteLabel(input, answer)
        const result = resultOf(name, answer)
        return options.followLinks === false ? result : withLinked(result, client, context)
      },
    }
  })
}

/**
 * Removes the keywords of a schema that open parameters for untrusted data, wherever a reference may find them. The
 * server must not decide that.
 */
function withoutAccepts(schema: object): Record<string, unknown> {
  return JSON.parse(JSON.stringify(schema, (key, value) => (key === ACCEPTS ? undefined : value)))
}

function isDestructive({ annotations = {} }: McpTool): boolean {
  return !annotations.readOnlyHint && annotations.destructiveHint !== false
}

async function callTool(
  client: Client,
  params: Parameters<Client['callTool']>[0],
  { signal, progress: report }: ToolContext,
): Promise<CallToolResult> {
  const result = await client.callTool(params, {
    signal,
    timeout: NO_TIMEOUT,
    onprogress: ({ message, progress, total }) =>
      report(
        message ?? `${progress}${total ? ` of ${total}` : ''}`,
        total ? progress / total : undefined,
      ),
  })
  return result as CallToolResult
}

/** @throws ByrefError `tool_failed` if the server reports an error */
function resultOf(name: string, { content, structuredContent, isError }: CallToolResult): unknown {
  if (isError) {
    const words = content.map((block) => (block.type === 'text' ? block.text : `[${block.type}]`))
    throw new ByrefError('tool_failed', words.join('\n') || `${name} failed`)
  }
  if (structuredContent === undefined) {
    const [first] = content
    if (content.length !== 1 || first?.type !== 'text') return content
    // As parsed data, its fields have names.
    return dataInText(first.text) ?? first.text
  }
  // The text blocks repeat the structured content.
  const others = content.filter(({ type }) => type !== 'text')
  return others.length === 0 ? structuredContent : { data: structuredContent, content: others }
}

/**
 * Replaces links in a result by the resources that they link to, stored as assets. A link that cannot be read stays a
 * link.
 */
async function withLinked(
  result: unknown,
  client: Client,
  context: Pick<ToolContext, 'assets' | 'signal'>,
): Promise<unknown> {
  const { assets, signal } = context
  if (Array.isArray(result))
    return Promise.all(result.map((one) => withLinked(one, client, context)))
  const { type, uri, content } = Object(result) as Record<string, unknown>
  if (Array.isArray(content)) {
    return { ...Object(result), content: await withLinked(content, client, context) }
  }
  if (type !== 'resource_link' || typeof uri !== 'string') return result
  const read = await client.readResource({ uri }, { signal }).catch(() => null)
  const part = read?.contents[0]
  if (!part) return result
  const { name = null } = result as { name?: string }
  const saved = await saveBody({ ...part }, assets, { name })
  if (!saved) return result
  const { ref, mime, kind, size } = saved
  return { ...Object(result), assetRef: ref, mimeType: mime, kind, size }
}
