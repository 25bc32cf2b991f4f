import { useSyncExternalStore } from 'react'
import { Listeners } from '../ui/listeners.ts'

/** The chosen theme. `system` follows the operating system. */
export type Theme = 'system' | 'light' | 'dark'

const KEY = 'byref-theme'
const listeners = new Listeners()
let chosen: Theme | null = null

/** Returns the chosen theme of the workbench, which the browser saves. */
export function useTheme(): Theme {
  return useSyncExternalStore(listeners.subscribe, currentTheme, () => 'system')
}

/** Chooses a theme for this browser. */
export function setTheme(theme: Theme): void {
  chosen = theme
  markPage(theme)
  try {
    if (theme === 'system') localStorage.removeItem(KEY)
    else localStorage.setItem(KEY, theme)
  } catch {
    // Without storage, the choice lasts until the page is closed.
  }
  listeners.tell()
}

/** Switches between light and dark, starting from the visible theme. */
export function toggleTheme(): void {
  setTheme(isDark() ? 'light' : 'dark')
}

/** Changes the page itself, if it is the workbench's own. */
function markPage(theme: Theme): void {
  const { classList, dataset } = document.body
  if (!classList.contains('byref')) return
  if (theme === 'system') delete dataset.theme
  else dataset.theme = theme
}

function currentTheme(): Theme {
  chosen ??= read()
  return chosen
}

function read(): Theme {
  try {
    const theme = localStorage.getItem(KEY)
    return theme === 'light' || theme === 'dark' ? theme : 'system'
  } catch {
    return 'system'
  }
}

function isDark(): boolean {
  const theme = currentTheme()
  return theme === 'system' ? matchMedia('(prefers-color-scheme: dark)').matches : theme === 'dark'
}
