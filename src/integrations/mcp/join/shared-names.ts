import { freeName } from '../free-name.ts'
import type { ServerConnection } from './server-connection.ts'

/** Where a tool or a prompt is: its server, and its name there. */
export interface Place<Item> {
  connection: ServerConnection
  item: Item
}

/** Returns the items of all servers by names that differ: the server's prefix and the item's own name. */
export function sharedNames<Item extends { name: string }>(
  connections: readonly ServerConnection[],
  itemsOf: (connection: ServerConnection) => readonly Item[],
): Map<string, Place<Item>> {
  const places = new Map<string, Place<Item>>()
  for (const connection of connections) {
    const { name, prefix = `${name}_` } = connection.source
    for (const item of itemsOf(connection)) {
      places.set(freeName(`${prefix}${item.name}`, places), { connection, item })
    }
  }
  return places
}
