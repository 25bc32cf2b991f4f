import { defined } from '../../../assets/defined.ts'
import { isPlainObject } from '../../../core/json/json.ts'
import type { Fields, RpcMessage } from '../rpc/json-rpc.ts'

const CLIENT = 'io.modelcontextprotocol/clientCapabilities'

/**
 * Returns a request without ways to ask the client's model or person, and without tasks. Of the client's capabilities
 * only roots stay.
 */
export function withoutAsking(request: RpcMessage): RpcMessage {
  if (request.params === undefined) return request
  const { capabilities, _meta, task, requestState, inputResponses, ...params } = request.params
  const isDeclared = isPlainObject(_meta) && _meta[CLIENT] !== undefined
  const meta = isDeclared ? { ..._meta, [CLIENT]: rootsOf(_meta[CLIENT]) } : _meta
  const roots = capabilities === undefined ? undefined : rootsOf(capabilities)
  return { ...request, params: defined({ ...params, capabilities: roots, _meta: meta }) }
}

function rootsOf(capabilities: unknown): Fields {
  return defined({ roots: Object(capabilities).roots })
}

const VERSION = /^\d{4}-\d\d-\d\d$/
const isVersion = (one: unknown): boolean => typeof one === 'string' && VERSION.test(one)

/** Returns a server's first description of itself: its author's words, without capabilities that ask for more. */
export function describedServer(result: Fields, guide: string): Fields {
  const { protocolVersion, supportedVersions, serverInfo, instructions } = result
  const has = Object(result.capabilities)
  const { name = 'server', title, version = '' } = Object(serverInfo)
  const words = [instructions, guide].filter((one) => typeof one === 'string' && one !== '')
  const resources = Object(has.resources).subscribe === true ? { subscribe: true } : {}
  return defined({
    protocolVersion: isVersion(protocolVersion) ? protocolVersion : undefined,
    supportedVersions: Array.isArray(supportedVersions)
      ? supportedVersions.filter(isVersion)
      : undefined,
    serverInfo: defined({ name, version, title }),
    capabilities: defined({ tools: {}, resources, prompts: has.prompts ? {} : undefined }),
    instructions: words.join('\n\n'),
  })
}

/** Codes of errors that the protocol defines. */
const CODES = new Set([-32700, -32600, -32601, -32602, -32603, -32002, -32042, -32022])

/** Returns an error's code if the protocol defines it. Other numbers come from the server and are not shown. */
export function knownCode(code: unknown): number {
  return typeof code === 'number' && CODES.has(code) ? code : -32603
}
