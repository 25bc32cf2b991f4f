import { afterEach } from 'vitest'

// What jsdom lacks and the app's parts ask for when they are shown.
if (typeof window !== 'undefined') {
  const { cleanup, configure } = await import('@testing-library/react')
  // Long, since a machine may be busy; what is there is seen at once.
  configure({ asyncUtilTimeout: 30_000 })
  afterEach(cleanup)
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
}
