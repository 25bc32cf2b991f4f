import { createContext } from 'react'

/**
 * Whether this is inside a link. References then show their values without being links, because links cannot be nested.
 */
export const InsideLink = createContext(false)
