import { type ComponentProps, type ComponentType, createContext, use } from 'react'
import type { View } from './view.ts'

/** What a link opens. */
export type Place =
  /** Parts of the view of this conversation, and an element of its thread. */
  | { type: 'view'; view?: View; hash?: string }
  /** An asset outside of conversations. */
  | { type: 'asset'; id: string }
  /** A path of the workbench, such as `/c/<id>`, and an element of its thread. */
  | { type: 'path'; path: string; hash?: string }

/** Properties of {@link PlaceLink}. */
export type PlaceLinkProps = { to: Place } & Omit<ComponentProps<'a'>, 'href'>

/** Where a person is, and how to go elsewhere: by the address of the page, or inside a pane. */
export interface Navigation {
  view: View
  /** The id of the linked element of the thread, encoded. */
  hash: string
  /** Changes parts of the view. `undefined` closes a part. */
  change: (change: View, options?: { hash?: string; replace?: boolean }) => void
  openConversation: (id: string, hash?: string) => Promise<void> | void
  /** Whether other conversations can be opened. */
  opensOthers: boolean
  /** Whether there is an inspector of this conversation. */
  hasInspector: boolean
  /** Shows the inspector if it is closed. */
  showInspector: () => void
  /** Closes the inspector. Null if the app decides where it is. */
  closeInspector: (() => void) | null
  /** Returns the address of an element of the thread. Null if it has none. */
  addressOf: (hash: string) => string | null
  Link: ComponentType<PlaceLinkProps>
}

/** Provides the navigation of the panes inside. */
export const NavigationContext = createContext<Navigation | null>(null)

/** Returns the navigation of this pane. */
export function useNavigation(): Navigation {
  const navigation = use(NavigationContext)
  if (!navigation) throw new Error('This component needs a <NavigationContext>.')
  return navigation
}

/** Returns the current view. */
export function useView(): View {
  return useNavigation().view
}

/** Returns the id of the linked element of the thread, encoded. Empty if there is none. */
export function useHash(): string {
  return useNavigation().hash
}

/** Returns a function that changes parts of the view. `undefined` closes a part. */
export function useChangeView(): Navigation['change'] {
  return useNavigation().change
}

/** Renders a link to a place. */
export function PlaceLink(props: PlaceLinkProps) {
  const { Link } = useNavigation()
  return <Link {...props} />
}

/** Renders a link that opens something in the inspector, without moving the thread. */
export function ViewLink({
  view,
  onClick,
  ...rest
}: { view: View } & Omit<ComponentProps<'a'>, 'href'>) {
  const { showInspector } = useNavigation()
  return (
    <PlaceLink
      to={{ type: 'view', view }}
      {...rest}
      onClick={(event) => {
        onClick?.(event)
        showInspector()
      }}
    />
  )
}
