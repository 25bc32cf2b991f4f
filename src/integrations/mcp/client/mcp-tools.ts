import type {
  CallToolResult,
  Client,
  Tool as McpTool,
  ReadResourceResult,
  RequestOptions,
} from '@modelcontextprotocol/client'
import type { Tool, ToolContext } from '../../../boundary/tool.ts'
import { checkOptions, is, type OptionTable } from '../../../core/check-options.ts'
import { ByrefError } from '../../../core/errors.ts'
import { LONGEST_TIMER } from '../../../core/timer.ts'
import { ACCEPTS } from '../../../policies/trust/check-flow.ts'
import { dataOrText } from '../../json-in-text.ts'
import { shownSchema } from '../../plain-tools.ts'
import { saveBody } from '../assets-for-clients.ts'
import { labelMeta, type ServerTrust, serverTrust } from '../mcp-labels.ts'
import { filesFor, mcpTool, resolveArguments } from '../reference-arguments.ts'
import { freeName, needsOldTask } from '../tools-of-servers.ts'

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
  /**
   * Whether resources behind links in results are read and stored as assets. Default true, within limits: 10 links of a
   * result, 10 s for all of them, and 5 MiB for a link that declares its size. The other links stay links.
   */
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

/** A client of the first SDK, `@modelcontextprotocol/sdk`, with the methods that byref calls. */
interface FirstClient {
  readonly transport?: object
  listTools(params?: { cursor?: string }): Promise<{ tools: object[]; nextCursor?: string }>
  callTool(params: CallParams, resultSchema?: undefined, options?: RequestOptions): Promise<unknown>
  readResource(params: { uri: string }, options?: RequestOptions): Promise<ReadResourceResult>
}

/** A client of either MCP SDK. */
type McpClient = Client | FirstClient

type CallParams = Parameters<Client['callTool']>[0]

/**
 * Returns the tools of an MCP server as tools of an agent. Any parameter takes references to assets. Images, audio,
 * embedded resources and links in results become assets. A tool that the server declares read-only or idempotent is
 * idempotent here.
 *
 * @param client A connected `Client` of `@modelcontextprotocol/client` or `@modelcontextprotocol/sdk`.
 * @throws ByrefError `config_invalid` for an unknown option, or a client that is not connected
 */
export async function mcpTools(client: McpClient, options: McpToolsOptions = {}): Promise<Tool[]> {
  checkOptions('mcpTools', options, OPTIONS)
  if (!client?.transport) {
    const message =
      'mcpTools needs a connected Client of @modelcontextprotocol/client. Call client.connect(transport) first'
    throw new ByrefError('config_invalid', message)
  }
  const { prefix = '', include = () => true, needsApproval = isDestructive } = options
  const { trust = 'untrusted' } = options
  const found: McpTool[] = []
  let cursor: string | undefined
  do {
    const page = await client.listTools({ cursor })
    found.push(...(page.tools as McpTool[]))
    cursor = page.nextCursor
  } while (cursor)
  const taken = new Set<string>()
  const callable = found.filter((tool) => !needsOldTask(tool))
  return callable.filter(include).map((tool) => {
    const { name, title, description, inputSchema, annotations = {} } = tool
    const id = freeName(`${prefix}${name}`, taken)
    taken.add(id)
    const files = filesFor(tool, options.files)
    const described = mcpTool(id, withoutAccepts(inputSchema), files)
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
          files,
        })
        const given = context.trust && { _meta: labelMeta(context.trust.input) }
        const answer = await callTool(client, { name, arguments: args, ...given }, context)
        noteLabel(input, answer)
        const follows = options.followLinks !== false && !answer.isError
        return resultOf(name, follows ? await withLinked(answer, client, context) : answer)
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
  client: McpClient,
  params: CallParams,
  { signal, progress: report }: ToolContext,
): Promise<CallToolResult> {
  const options: RequestOptions = {
    signal,
    // Instead of the SDK's own limit, the agent's applies: `limits.callTimeoutMs`.
    timeout: LONGEST_TIMER,
    onprogress: ({ message, progress, total }) =>
      report(
        message ?? `${progress}${total ? ` of ${total}` : ''}`,
        total ? progress / total : undefined,
      ),
  }
  const result = isOfSecondSdk(client)
    ? await client.callTool(params, options)
    : await client.callTool(params, undefined, options)
  return result as CallToolResult
}

function isOfSecondSdk(client: McpClient): client is Client {
  return 'getProtocolEra' in client
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
    return dataOrText(first.text)
  }
  // The text blocks repeat the structured content.
  const others = content.filter(({ type }) => type !== 'text')
  return others.length === 0 ? structuredContent : { data: structuredContent, content: others }
}

type Block = CallToolResult['content'][number]
type Link = Extract<Block, { type: 'resource_link' }>

/** Maximum number of links that are read for one result. */
const MAX_LINKS = 10

/** Maximum declared size. Over stdio, the SDK ends the connection after a message of 10 MB. */
const MAX_BYTES = 5 * 1024 * 1024

/** Maximum time for each link. All are read at once. */
const MAX_MS = 10_000

/**
 * Replaces links in a result by the resources that they link to, stored as assets. A link that cannot be read, or that
 * exceeds one of the limits, stays a link.
 */
async function withLinked(
  result: CallToolResult,
  client: Pick<Client, 'readResource'>,
  { assets, signal }: Pick<ToolContext, 'assets' | 'signal'>,
): Promise<CallToolResult> {
  const links = new Set(result.content.filter(isSmallLink).slice(0, MAX_LINKS))
  if (links.size === 0) return result
  const until = { signal, timeout: MAX_MS }
  async function linked(link: Block): Promise<Block> {
    if (!isSmallLink(link) || !links.has(link)) return link
    const read = await client.readResource({ uri: link.uri }, until).catch(() => null)
    const part = read?.contents[0]
    const saved = part && (await saveBody({ ...part }, assets, { name: link.name ?? null }))
    if (!saved) return link
    const { ref, mime, kind, size } = saved
    return Object.assign({ ...link }, { assetRef: ref, mimeType: mime, kind, size })
  }
  return { ...result, content: await Promise.all(result.content.map(linked)) }
}

function isSmallLink(block: Block): block is Link {
  return block.type === 'resource_link' && (block.size ?? 0) <= MAX_BYTES
}
