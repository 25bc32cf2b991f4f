import type { ServerConnection } from './server-connection.ts'

/** Where a tool or a prompt is: its server, and its name there. */
export interface Place<Item> {
  connection: ServerConnection
  item: Item
}

/** Maximum length of a name. Model providers accept no longer ones. */
const LENGTH = 64

/**
 * Returns the items of all servers by names that differ: the server's prefix and the item's own name. Characters that
 * providers do not accept become `_`. A name that is taken gets a number.
 */
export function sharedNames<Item extends { name: string }>(
  connections: readonly ServerConnection[],
  itemsOf: (connection: ServerConnection) => readonly Item[],
): Map<string, Place<Item>> {
  const places = new Map<string, Place<Item>>()
  for (const connection of connections) {
    const { name, prefix = `${name}_` } = connection.source
    for (const item of itemsOf(connection)) {
      const wanted = `${prefix}${item.name}`.replace(/[^\w-]/g, '_')
      places.set(freeName(wanted, places), { connection, item })
    }
  }
  return places
}

function freeName(wanted: string, taken: ReadonlyMap<string, unknown>): string {
  const name = wanted.slice(0, LENGTH)
  if (!taken.has(name)) return name
  for (let number = 2; ; number++) {
    const end = `_${number}`
    const other = `${wanted.slice(0, LENGTH - end.length)}${end}`
    if (!taken.has(other)) return other
  }
}
