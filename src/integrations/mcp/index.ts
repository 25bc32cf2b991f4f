export { type McpToolsOptions, mcpTools } from './client/mcp-tools.ts'
export {
  type JoinedServers,
  type JoinOptions,
  joinServers,
  type ServerStatus,
} from './join/join-servers.ts'
export type { ServerSource, ServerState } from './join/server-connection.ts'
export { type ServerTransport, TASKS, withTasks } from './join/with-tasks.ts'
export type { ServerTrust } from './mcp-labels.ts'
export { type ProxyOptions, proxyMcp } from './proxy/proxy-mcp.ts'
export type { Channel, RpcMessage } from './rpc/json-rpc.ts'
export {
  createMcpServer,
  type McpConnection,
  type McpEndpoint,
  type McpServerOptions,
} from './server/mcp-server.ts'
