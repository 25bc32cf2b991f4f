import { isPlainObject } from '../../../core/json/json.ts'
import type { Fields, RpcMessage } from '../rpc/json-rpc.ts'

const CLIENT = 'io.modelcontextprotocol/clientCapabilities'

/** A request from which the server learns of no way to ask the client's model or person, and of no task. */
export function withoutAsking(request: RpcMessage): RpcMessage {
  const { capabilities, _meta, task, requestState, inputResponses, ...rest } = Object(
    request.params,
  )
  const meta =
    isPlainObject(_meta) && _meta[CLIENT] ? { ..._meta, [CLIENT]: rootsOf(_meta[CLIENT]) } : _meta
  const params = {
    ...rest,
    ...(capabilities === undefined ? {} : { capabilities: rootsOf(capabilities) }),
    ...(meta === undefined ? {} : { _meta: meta }),
  }
  return request.params === undefined ? request : { ...request, params }
}

function rootsOf(capabilities: unknown): Fields {
  const { roots } = Object(capabilities)
  return roots === undefined ? {} : { roots }
}

const VERSION = /^\d{4}-\d\d-\d\d$/
const isVersion = (one: unknown): boolean => typeof one === 'string' && VERSION.test(one)

/** What a server says of itself, by `initialize` and `server/discover`: its author's words, and none that ask for more. */
export function describedServer(result: Fields, guide: string): Fields {
  const { protocolVersion, supportedVersions, serverInfo, instructions } = result
  const has = Object(result.capabilities)
  const { name = 'server', title, version = '' } = Object(serverInfo)
  const words = [instructions, guide].filter((one) => typeof one === 'string' && one !== '')
  return {
    ...(isVersion(protocolVersion) ? { protocolVersion } : {}),
    ...(Array.isArray(supportedVersions)
      ? { supportedVersions: supportedVersions.filter(isVersion) }
      : {}),
    serverInfo: { name, version, ...(title === undefined ? {} : { title }) },
    capabilities: {
      tools: {},
      resources: Object(has.resources).subscribe === true ? { subscribe: true } : {},
      ...(has.prompts ? { prompts: {} } : {}),
    },
    instructions: words.join('\n\n'),
  }
}

/** Codes of errors that the protocol gives a meaning. */
const CODES = new Set([-32700, -32600, -32601, -32602, -32603, -32002, -32042, -32022])

/** An error's code where it is one of the protocol's; a number of the server's own is not shown. */
export function knownCode(code: unknown): number {
  return typeof code === 'number' && CODES.has(code) ? code : -32603
}
