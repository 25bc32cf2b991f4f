import type { CallToolResult, Client } from '@modelcontextprotocol/client'
import type { ToolContext } from '../../../boundary/tool.ts'
import { saveBody } from '../assets-for-clients.ts'

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
export async function withLinked(
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
