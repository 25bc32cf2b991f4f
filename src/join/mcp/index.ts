export type { Channel, RpcMessage } from './json-rpc.ts'
export { type ProxyOptions, proxyMcp } from './proxy.ts'
