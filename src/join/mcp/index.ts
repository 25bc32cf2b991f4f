export { type McpToolsOptions, mcpTools } from './client.ts'
export type { Channel, RpcMessage } from './json-rpc.ts'
export { type ProxyOptions, proxyMcp } from './proxy.ts'
export {
  createMcpServer,
  type McpConnection,
  type McpEndpoint,
  type McpServerOptions,
} from './server.ts'
