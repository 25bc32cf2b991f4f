/** Where an element is in the page: its ancestors, and its position in each. The nearest ancestor comes first. */
export type FocusPlace = readonly { parent: Element; index: number }[]

const FOCUSABLE =
  'a[href], button:not(:disabled), input:not(:disabled, [type=file]), select:not(:disabled), textarea:not(:disabled), summary, [tabindex="0"]'

/** Returns where an element is, so that the focus can stay near after the element is removed. */
export function placeOf(element: Element): FocusPlace {
  const place: { parent: Element; index: number }[] = []
  let child = element
  for (let parent = child.parentElement; parent; parent = parent.parentElement) {
    place.push({ parent, index: [...parent.children].indexOf(child) })
    if (parent === document.body) break
    child = parent
  }
  return place
}

/**
 * Moves the focus to what is left of a place: the nearest ancestor that takes the focus, or what is now where the removed
 * element was, or else before it.
 */
export function focusNear(place: FocusPlace): void {
  const target = nearest(place)
  if (target instanceof HTMLElement) target.focus({ preventScroll: true })
}

/** Returns whether nothing has the focus. */
export function isFocusLost(): boolean {
  return document.activeElement === null || document.activeElement === document.body
}

function nearest(place: FocusPlace): Element | null {
  for (const { parent, index } of place) {
    if (!parent.isConnected || parent === document.body) continue
    if (parent.hasAttribute('tabindex')) return parent
    const children = [...parent.children]
    const order = [...children.slice(index), ...children.slice(0, index).reverse()]
    for (const child of order) {
      const found = firstFocusable(child)
      if (found) return found
    }
  }
  return null
}

function firstFocusable(root: Element): Element | undefined {
  const all = root.matches(FOCUSABLE) ? [root] : root.querySelectorAll(FOCUSABLE)
  return [...all].find((element) => isVisible(element) && !opensKeyboard(element))
}

function isVisible(element: Element): boolean {
  // Absent in old browsers and in tests without a layout.
  return element.checkVisibility?.({ visibilityProperty: true }) ?? true
}

/** Returns whether a focus would open the keyboard of a touch screen. */
function opensKeyboard(element: Element): boolean {
  return element.matches('input, textarea') && !matchMedia('(pointer: fine)').matches
}
