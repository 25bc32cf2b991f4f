import { createContext, use } from 'react'

/** The element in which menus, cards and dialogs open, so that the styles and the theme reach them. */
export const ContainerContext = createContext<HTMLElement | null>(null)

/** Returns the element in which menus, cards and dialogs open. Null until it exists. */
export function useContainer(): HTMLElement | null {
  return use(ContainerContext)
}
