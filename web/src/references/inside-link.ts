import { createContext } from 'react'

/** True within a link, where references show what they name without being links: links do not nest. */
export const InsideLink = createContext(false)
