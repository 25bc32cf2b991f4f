import { useSyncExternalStore } from 'react'
import { Listeners } from '../ui/listeners.ts'
import { useMedia } from '../ui/use-media.ts'

/**
 * The open side panes. On wide screens they are columns, and the choice is saved. Otherwise they are drawers over the
 * thread, and it is not saved.
 */
export interface Panels {
  conversations: boolean
  inspector: boolean
}

const KEY = 'byref-panels'
const WIDE: Record<keyof Panels, string> = {
  conversations: '(min-width: 48rem)',
  inspector: '(min-width: 68.75rem)',
}
const listeners = new Listeners()
let columns: Panels = read()
let drawer: keyof Panels | null = null

/** Returns whether this pane has room next to the thread. */
export function useIsColumn(panel: keyof Panels): boolean {
  return useMedia(WIDE[panel])
}

/** Returns whether this pane is open, as a column or as a drawer. */
export function usePanel(panel: keyof Panels): boolean {
  const isColumn = useIsColumn(panel)
  const isOpen = useSyncExternalStore(listeners.subscribe, () => columns[panel])
  const isDrawer = useSyncExternalStore(listeners.subscribe, () => drawer === panel)
  return isColumn ? isOpen : isDrawer
}

/** Opens or closes a pane in its current form. */
export function setPanel(panel: keyof Panels, open: boolean): void {
  if (matchMedia(WIDE[panel]).matches) {
    columns = { ...columns, [panel]: open }
    try {
      localStorage.setItem(KEY, JSON.stringify(columns))
    } catch {
      // Without storage, the choice lasts until the page is closed.
    }
  } else drawer = open ? panel : null
  listeners.tell()
}

/** Closes the open drawer, if any. Columns stay open. */
export function closeDrawer(): void {
  drawer = null
  listeners.tell()
}

function read(): Panels {
  const all = { conversations: true, inspector: true }
  try {
    const kept = JSON.parse(localStorage.getItem(KEY) ?? '{}') as Partial<Panels>
    return {
      conversations: kept.conversations !== false,
      inspector: kept.inspector !== false,
    }
  } catch {
    return all
  }
}
