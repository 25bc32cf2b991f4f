import { formatAssetRef } from 'byref/client'
import { type ReactNode, useCallback, useMemo, useSyncExternalStore } from 'react'
import { Listeners } from '../ui/listeners.ts'
import {
  type Navigation,
  NavigationContext,
  type PlaceLinkProps,
  useNavigation,
} from './navigation.tsx'
import { useServer } from './server.ts'
import type { View } from './view.ts'

interface Open {
  view: View
  hash: string
}

const NOTHING: Open = { view: {}, hash: '' }

/** What is open in each conversation. Panes of the same conversation share it. */
export class OpenPlaces {
  readonly #listeners = new Listeners()
  readonly subscribe = this.#listeners.subscribe
  readonly #open = new Map<string, Open>()
  readonly #inspectors: string[] = []

  get(id: string): Open {
    return this.#open.get(id) ?? NOTHING
  }

  set(id: string, open: Open): void {
    this.#open.set(id, open)
    this.#listeners.tell()
  }

  /** Tells that an inspector of a conversation is there. Returns the function that ends it. */
  addInspector(id: string): () => void {
    this.#inspectors.push(id)
    this.#listeners.tell()
    return () => {
      this.#inspectors.splice(this.#inspectors.indexOf(id), 1)
      this.#listeners.tell()
    }
  }

  /** Returns whether there is an inspector of a conversation. */
  hasInspector(id: string): boolean {
    return this.#inspectors.includes(id)
  }
}

/** Properties of {@link PaneNavigation}. */
export interface PaneNavigationProps {
  /** The conversation, or null for a new one. */
  id: string | null
  places: OpenPlaces
  /** Opens another conversation, such as a fork. Absent if the app shows only this one. */
  onConversation?: (id: string) => void
  children: ReactNode
}

/** Keeps what is open beside the page's address, which belongs to the app. */
export function PaneNavigation({ id, places, onConversation, children }: PaneNavigationProps) {
  const key = id ?? ''
  const read = useCallback(() => places.get(key), [places, key])
  const { view, hash } = useSyncExternalStore(places.subscribe, read, read)
  const readInspector = useCallback(() => places.hasInspector(key), [places, key])
  const hasInspector = useSyncExternalStore(places.subscribe, readInspector, readInspector)
  const value = useMemo<Navigation>(
    () => ({
      view,
      hash,
      change: (change, { hash } = {}) => {
        const before = places.get(key)
        places.set(key, { view: { ...before.view, ...change }, hash: hash ?? before.hash })
      },
      openConversation: (other, hash) => {
        if (hash !== undefined) places.set(other, { view: {}, hash })
        onConversation?.(other)
      },
      opensOthers: onConversation !== undefined,
      hasInspector,
      showInspector: () => {},
      closeInspector: null,
      addressOf: () => null,
      Link: PaneLink,
    }),
    [view, hash, places, key, onConversation, hasInspector],
  )
  return <NavigationContext value={value}>{children}</NavigationContext>
}

function PaneLink({ to, onClick, ...rest }: PlaceLinkProps) {
  const { client } = useServer()
  const { change, openConversation, hasInspector } = useNavigation()
  if (to.type === 'asset' || (to.type === 'view' && to.view?.asset && !hasInspector)) {
    const id = to.type === 'asset' ? to.id : String(to.view?.asset)
    const url = client.assetUrl(formatAssetRef({ id }))
    return <a href={url} target="_blank" rel="noopener noreferrer" onClick={onClick} {...rest} />
  }
  if (to.type === 'path') {
    const [, encoded] = /^\/c\/([^/?#]+)/.exec(to.path) ?? []
    // Any other path belongs to the app.
    if (encoded === undefined) return <a href={to.path} onClick={onClick} {...rest} />
    return (
      <a
        href={to.path}
        onClick={(event) => {
          onClick?.(event)
          event.preventDefault()
          void openConversation(decodeURIComponent(encoded), to.hash)
        }}
        {...rest}
      />
    )
  }
  return (
    <a
      href={`#${to.hash ?? ''}`}
      onClick={(event) => {
        onClick?.(event)
        event.preventDefault()
        change(to.view ?? {}, { hash: to.hash })
      }}
      {...rest}
    />
  )
}
