import type { AssetDetails, Message } from 'byref/client'
import { createContext, type ReactNode, use } from 'react'

/** Shows a message, or the content of one. */
export type MessageRenderer = (props: { message: Message }) => ReactNode

/** Shows what is in an asset. */
export type AssetRenderer = (props: { details: AssetDetails }) => ReactNode

/**
 * How things look, beside or instead of how the workbench shows them. Each map may name a type to the letter, `image/*`
 * for a family, or `*` for all that nothing else names.
 */
export interface Renderers {
  /** By `message_type`. What calls and results look like is the same for all of them. */
  messages?: Readonly<Record<string, MessageRenderer>>
  /** By `content_type`, within whatever the message's type looks like. */
  contents?: Readonly<Record<string, MessageRenderer>>
  /** Previews of assets, by MIME type. */
  assets?: Readonly<Record<string, AssetRenderer>>
}

/** The renderers that were given to the workbench. */
export const RenderersContext = createContext<Renderers>({})

/** The renderers that were given to the workbench. */
export function useRenderers(): Renderers {
  return use(RenderersContext)
}

/** The renderer of a type: under its name, its family's (`image/*`), or `*`; the given ones before the built-in ones. */
export function findRenderer<T>(
  type: unknown,
  ...maps: (Readonly<Record<string, T>> | undefined)[]
): T | null {
  const name = String(type ?? '')
    .split(';', 1)[0]
    ?.trim()
    .toLowerCase() as string
  const names = [name, `${name.split('/', 1)[0]}/*`, '*']
  for (const key of names) {
    for (const map of maps) {
      const found = map && Object.hasOwn(map, key) ? map[key] : undefined
      if (found) return found
    }
  }
  return null
}
