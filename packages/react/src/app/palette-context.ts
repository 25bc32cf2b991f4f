import { createContext } from 'react'

/** Opens the command palette. */
export const PaletteContext = createContext<() => void>(() => {})
