export type { Channel, RpcMessage } from './json-rpc.ts'
export { type ProxyOptions, proxyMcp } from './proxy.ts'
export { createMcpServer, type McpEndpoint, type McpServerOptions } from './server.ts'
