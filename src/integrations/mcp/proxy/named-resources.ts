import { isPlainObject } from '../../../core/json/json.ts'
import type { Fields, RpcMessage } from '../rpc/json-rpc.ts'

/** The resources of a server under names that say nothing of them. */
export interface NamedResources {
  /** A list as it is shown. */
  name(list: readonly unknown[]): Fields[]
  /** A request with the address that the server knows. */
  toServer(request: RpcMessage): RpcMessage
  /** The same, whose changes are told from now on. */
  subscribe(request: RpcMessage): RpcMessage
  /** That something has changed, by the address that the client knows; null for what it did not subscribe to. */
  updated(params: unknown): RpcMessage | null
}

const SCHEME = 'byref-resource:'

/** Begins with none. */
export function createNamedResources(): NamedResources {
  const addresses: string[] = []
  const subscribed = new Map<unknown, string>()

  function toServer(request: RpcMessage): RpcMessage {
    const { uri } = Object(request.params)
    const known = String(uri).startsWith(SCHEME)
      ? addresses[Number(String(uri).slice(SCHEME.length)) - 1]
      : undefined
    return known === undefined ? request : { ...request, params: { ...request.params, uri: known } }
  }

  return {
    toServer,
    name(list) {
      return list.flatMap((one) => {
        if (!isPlainObject(one) || typeof one.uri !== 'string') return []
        if (!addresses.includes(one.uri)) addresses.push(one.uri)
        const number = addresses.indexOf(one.uri) + 1
        return { uri: `${SCHEME}${number}`, name: `untrusted resource ${number}` }
      })
    },
    subscribe(request) {
      const made = toServer(request)
      subscribed.set(made.params?.uri, String(request.params?.uri))
      return made
    },
    updated(params) {
      const uri = subscribed.get(Object(params).uri)
      if (uri === undefined) return null
      return { jsonrpc: '2.0', method: 'notifications/resources/updated', params: { uri } }
    },
  }
}
