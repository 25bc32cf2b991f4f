import { isPlainObject } from '../../../core/json/json.ts'
import type { Fields, RpcMessage } from '../rpc/json-rpc.ts'

const SCHEME = 'byref-resource:'

/** The resources of a server under neutral names: their own names and addresses are untrusted. */
export class NamedResources {
  readonly #addresses: string[] = []
  /** The address that the client knows, by the server's. */
  readonly #subscribed = new Map<unknown, string>()

  /** Returns a list for the client. */
  list(resources: readonly unknown[]): Fields[] {
    return resources.flatMap((one) => {
      if (!isPlainObject(one) || typeof one.uri !== 'string') return []
      if (!this.#addresses.includes(one.uri)) this.#addresses.push(one.uri)
      const number = this.#addresses.indexOf(one.uri) + 1
      return { uri: `${SCHEME}${number}`, name: `untrusted resource ${number}` }
    })
  }

  /** Returns a request with the server's address. */
  toServer(request: RpcMessage): RpcMessage {
    const given = String(request.params?.uri)
    const number = given.startsWith(SCHEME) ? Number(given.slice(SCHEME.length)) : 0
    const uri = this.#addresses[number - 1]
    return uri === undefined ? request : { ...request, params: { ...request.params, uri } }
  }

  /** Returns the same for a subscription. */
  subscribe(request: RpcMessage): RpcMessage {
    const made = this.toServer(request)
    this.#subscribed.set(made.params?.uri, String(request.params?.uri))
    return made
  }

  /** Returns the notification of a change, for the client. Null for a resource without a subscription. */
  updated(params: unknown): RpcMessage | null {
    const uri = this.#subscribed.get(Object(params).uri)
    if (uri === undefined) return null
    return { jsonrpc: '2.0', method: 'notifications/resources/updated', params: { uri } }
  }
}
