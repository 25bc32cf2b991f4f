import type { ServerSource } from '../../integrations/mcp/join/server-source.ts'
import { optionalPeer } from '../../optional-peer.ts'
import { OAuthLogin } from './oauth-login.ts'
import { processChannel } from './process-channel.ts'
import type { ServerConfig, UrlConfig } from './server-config.ts'

/** Returns how to reach a server of a configuration. Its stderr and questions to the person go to the log. */
export function sourceOf(config: ServerConfig, log: (line: string) => void): ServerSource {
  const { name } = config
  const logged = (line: string) => log(`${name}: ${line}`)
  if ('url' in config) return remoteSource(config, logged)
  const { command, args, env, cwd, ...common } = config
  return { ...common, connect: () => processChannel(command, args, { env, cwd, log: logged }) }
}

/** HTTP errors after which a server without a `type` is tried by the older transport (SSE). */
const NOT_STREAMABLE = new Set([400, 404, 405, 406])

function remoteSource(
  { url, headers, type, ...common }: UrlConfig,
  log: (line: string) => void,
): ServerSource {
  const hasKey = Object.keys(headers).some((name) => name.toLowerCase() === 'authorization')
  let isOld = type === 'sse'
  let login: OAuthLogin | undefined
  return {
    ...common,
    async connect() {
      const { SSEClientTransport, StreamableHTTPClientTransport } = await optionalPeer(
        '@modelcontextprotocol/client',
        'An MCP server at a URL',
      )
      login ??= hasKey ? undefined : new OAuthLogin(url, log)
      const authProvider = await login?.provider()
      const options = { requestInit: { headers: { ...headers } }, authProvider }
      return isOld
        ? new SSEClientTransport(url, options)
        : new StreamableHTTPClientTransport(url, options)
    },
    async recover(error) {
      const { UnauthorizedError } = await optionalPeer(
        '@modelcontextprotocol/client',
        'An MCP server at a URL',
      )
      if (error instanceof UnauthorizedError && login) return login.finish()
      const { status } = Object(error) as { status?: number }
      if (isOld || type !== undefined || !NOT_STREAMABLE.has(status ?? 0)) return false
      isOld = true
      return true
    },
  }
}
