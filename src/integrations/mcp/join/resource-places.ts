import { setRecent } from '../../../core/recent.ts'
import { ProtocolError } from '../rpc/json-rpc.ts'
import type { ServerConnection } from './server-connection.ts'

/** Maximum number of addresses in results that are remembered. */
const MAX_NOTED = 10_000

/** Finds out which of several servers has a resource. */
export class ResourcePlaces {
  /** Addresses in results, with the server of the result. */
  readonly #noted = new Map<string, ServerConnection>()

  /** Notes the addresses of resources in a result. */
  note({ content }: { content?: unknown }, connection: ServerConnection): void {
    for (const block of Array.isArray(content) ? content : []) {
      const uri = block?.uri ?? block?.resource?.uri
      if (typeof uri === 'string') setRecent(this.#noted, uri, connection, MAX_NOTED)
    }
  }

  /** Returns the server that lists a resource or has a template for it, or whose results named it. */
  placeOf(uri: string, connections: readonly ServerConnection[]): ServerConnection | undefined {
    const listed = connections.find(({ offers }) => offers.resources.some((one) => one.uri === uri))
    if (listed) return listed
    const noted = this.#noted.get(uri)
    if (noted) return noted
    return connections.find(({ offers }) =>
      offers.templates.some((one) => fits(one.uriTemplate, uri)),
    )
  }

  /** Reads a resource from its server. If no server is known for it, all servers with resources are asked in turn. */
  async read<Result extends object>(
    uri: string,
    connections: readonly ServerConnection[],
    readFrom: (connection: ServerConnection) => Promise<Result>,
  ): Promise<Result> {
    const place = this.placeOf(uri, connections)
    const asked = place ? [place] : connections.filter(hasResources)
    let reason: unknown = new ProtocolError(`There is no resource ${uri}`, { code: -32002 })
    for (const connection of asked) {
      try {
        return await readFrom(connection)
      } catch (error) {
        reason = error
      }
    }
    throw reason
  }
}

function hasResources({ offers }: ServerConnection): boolean {
  return offers.resources.length > 0 || offers.templates.length > 0
}

/** Whether an address begins as a template does, or is the template itself. */
function fits(template: string, uri: string): boolean {
  const [beginning = ''] = template.split('{')
  return uri === template || (beginning !== '' && uri.startsWith(beginning))
}
