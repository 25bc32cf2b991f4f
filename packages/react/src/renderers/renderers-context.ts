import type { AssetDetails, Message, MessageType } from 'byref/client'
import { createContext, type ReactNode, use } from 'react'

/** Renders a message, or the content of one. */
export type MessageRenderer = (props: { message: Message }) => ReactNode

/** Renders the content of an asset. */
export type AssetRenderer = (props: { details: AssetDetails }) => ReactNode

/**
 * Custom renderers, in addition to the built-in ones or instead of them. A key is an exact type, `image/*` for a
 * family, or `*` for all other types.
 */
export interface Renderers {
  /** By `message_type`. Calls and results always look the same. */
  messages?: Readonly<Partial<Record<MessageType | '*', MessageRenderer>>>
  /** By `content_type`, inside the renderer of the message's type. */
  contents?: Readonly<Record<string, MessageRenderer>>
  /** Previews of assets, by MIME type. */
  assets?: Readonly<Record<string, AssetRenderer>>
}

/** The custom renderers of the workbench. */
export const RenderersContext = createContext<Renderers>({})

/** Returns the custom renderers of the workbench. */
export function useRenderers(): Renderers {
  return use(RenderersContext)
}

/**
 * Returns the renderer of a type: by its name, its family (`image/*`), or `*`. Custom renderers come before the
 * built-in ones.
 */
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
