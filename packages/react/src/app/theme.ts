import { useSyncExternalStore } from 'react'

/** The chosen theme. `system` follows the operating system. */
export type Theme = 'system' | 'light' | 'dark'

const KEY = 'byref-theme'
const listeners = new Set<() => void>()

/** Returns the chosen theme, which the browser saves. */
export function useTheme(): Theme {
  return useSyncExternalStore((listener) => {
    listeners.add(listener)
    return () => listeners.delete(listener)
  }, currentTheme)
}

/** Returns whether the visible theme is dark. */
export function useIsDark(): boolean {
  useTheme()
  return useSyncExternalStore((listener) => {
    const system = matchMedia('(prefers-color-scheme: dark)')
    system.addEventListener('change', listener)
    return () => system.removeEventListener('change', listener)
  }, isDark)
}

/** Chooses a theme for this browser. */
export function setTheme(theme: Theme): void {
  const { dataset } = document.documentElement
  if (theme === 'system') delete dataset.theme
  else dataset.theme = theme
  try {
    if (theme === 'system') localStorage.removeItem(KEY)
    else localStorage.setItem(KEY, theme)
  } catch {
    // Without storage, the choice lasts until the page is closed.
  }
  for (const listener of listeners) listener()
}

/** Switches between light and dark, starting from the visible theme. */
export function toggleTheme(): void {
  setTheme(isDark() ? 'light' : 'dark')
}

function currentTheme(): Theme {
  const { theme } = document.documentElement.dataset
  return theme === 'light' || theme === 'dark' ? theme : 'system'
}

function isDark(): boolean {
  const theme = currentTheme()
  return theme === 'system' ? matchMedia('(prefers-color-scheme: dark)').matches : theme === 'dark'
}
