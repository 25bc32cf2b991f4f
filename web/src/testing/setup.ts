import { afterEach } from 'vitest'

// What jsdom lacks and the app's parts ask for when they are shown.
if (typeof window !== 'undefined') {
  const { cleanup } = await import('@testing-library/react')
  afterEach(cleanup)
  window.scrollTo = () => {}
  Element.prototype.scrollIntoView = () => {}
  window.matchMedia = (media) =>
    ({ media, matches: true, addEventListener() {}, removeEventListener() {} }) as never
  window.ResizeObserver = class {
    observe() {}
    unobserve() {}
    disconnect() {}
  }
}
