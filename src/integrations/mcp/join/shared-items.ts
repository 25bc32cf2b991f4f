import { freeName } from '../tools-of-servers.ts'
import type { ServerConnection } from './server-connection.ts'

/** The tools or the prompts of several servers, by unique names: the server's prefix and the item's own name. */
export class SharedItems<Item extends { name: string }> {
  /** The items with their servers. */
  current: ReadonlyMap<string, { connection: ServerConnection; item: Item }> = new Map()
  /** The names by server and own name. An item keeps its name, even if it is removed and comes back. */
  readonly #names = new Map<string, string>()
  readonly #taken = new Set<string>()

  /** Reads the items again. */
  update(
    connections: readonly ServerConnection[],
    itemsOf: (connection: ServerConnection) => readonly Item[],
  ): void {
    const entries = connections.flatMap((connection) =>
      itemsOf(connection).map((item) => {
        return [this.#nameOf(connection, item), { connection, item }] as const
      }),
    )
    this.current = new Map(entries)
  }

  #nameOf({ source }: ServerConnection, item: Item): string {
    const key = JSON.stringify([source.name, item.name])
    const known = this.#names.get(key)
    if (known !== undefined) return known
    const { name, prefix = `${name}_` } = source
    const given = freeName(`${prefix}${item.name}`, this.#taken)
    this.#taken.add(given)
    this.#names.set(key, given)
    return given
  }
}
