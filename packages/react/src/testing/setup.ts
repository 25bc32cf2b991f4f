import { cleanup, configure } from '@testing-library/react'
import { afterEach } from 'vitest'
import { resetServer } from './server.ts'

// Long, because the machine may be busy. Elements that exist are found at once.
configure({ asyncUtilTimeout: 30_000 })
afterEach(() => {
  cleanup()
  resetServer()
  sessionStorage.clear()
  localStorage.clear()
})

// Tests load no style sheets, and jsdom needs half of the time of a query by role to compute styles.
window.getComputedStyle = (element) => (element as HTMLElement).style

// APIs that jsdom lacks and the app needs.
window.scrollTo = () => {}
Element.prototype.scrollIntoView = () => {}
window.matchMedia = (media) =>
  ({ media, matches: true, addEventListener() {}, removeEventListener() {} }) as never
window.IntersectionObserver = class {
  observe() {}
  unobserve() {}
  disconnect() {}
} as never
window.ResizeObserver = class {
  observe() {}
  unobserve() {}
  disconnect() {}
}
