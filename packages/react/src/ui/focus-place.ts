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
    // What is around a dialog or a menu has nothing to do with it.
    if (parent === document.body || parent.matches('[role=dialog], [role=menu]')) break
    child = parent
  }
  return place
}

/**
 * Moves the focus to what is left of a place: the nearest ancestor that takes the focus, or what is now where the removed
 * element was, or else before it.
 */
export function focusNear(place: FocusPlace): void {
  for (const element of near(place)) {
    element.focus({ preventScroll: true })
    if (!isFocusLost()) return
  }
}

/** Returns whether nothing has the focus. */
export function isFocusLost(): boolean {
  return document.activeElement === null || document.activeElement === document.body
}

function* near(place: FocusPlace): Iterable<HTMLElement> {
  for (const { parent, index } of place) {
    if (!parent.isConnected || parent === document.body) continue
    if (parent instanceof HTMLElement && parent.hasAttribute('tabindex')) yield parent
    const children = [...parent.children]
    for (const child of [...children.slice(index), ...children.slice(0, index).reverse()]) {
      const all = child.matches(FOCUSABLE) ? [child] : child.querySelectorAll(FOCUSABLE)
      for (const element of all) {
        if (element instanceof HTMLElement && isVisible(element) && !opensKeyboard(element)) {
          yield element
        }
      }
    }
  }
}

function isVisible(element: Element): boolean {
  // Absent in old browsers and in tests without a layout.
  return element.checkVisibility?.({ visibilityProperty: true }) ?? true
}

/** Returns whether a focus would open the keyboard of a touch screen. */
function opensKeyboard(element: Element): boolean {
  return element.matches('input, textarea') && !matchMedia('(pointer: fine)').matches
}
