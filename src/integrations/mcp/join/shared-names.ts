import { freeName } from '../tools-of-servers.ts'
import type { ServerConnection } from './server-connection.ts'

/** The server of a tool or a prompt, and its name there. */
export interface Place<Item> {
  connection: ServerConnection
  item: Item
}

/** The names of tools or prompts of several servers. An item keeps its name, even if it is removed and comes back. */
export class SharedNames<Item extends { name: string }> {
  /** The given names, with the server and the item's own name. */
  readonly #given = new Map<string, string>()
  readonly #names = new Map<string, string>()

  /** Returns the items of all servers by unique names: the server's prefix and the item's own name. */
  of(
    connections: readonly ServerConnection[],
    itemsOf: (connection: ServerConnection) => readonly Item[],
  ): Map<string, Place<Item>> {
    const places = new Map<string, Place<Item>>()
    for (const connection of connections) {
      for (const item of itemsOf(connection)) {
        places.set(this.#nameOf(connection, item), { connection, item })
      }
    }
    return places
  }

  #nameOf({ source }: ServerConnection, item: Item): string {
    const key = JSON.stringify([source.name, item.name])
    const known = this.#names.get(key)
    if (known !== undefined) return known
    const { name, prefix = `${name}_` } = source
    const given = freeName(`${prefix}${item.name}`, this.#given)
    this.#given.set(given, key)
    this.#names.set(key, given)
    return given
  }
}
