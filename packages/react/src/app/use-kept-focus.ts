import { useEffect } from 'react'
import { type FocusPlace, focusNear, isFocusLost, placeOf } from '../ui/focus-place.ts'

/**
 * Keeps the focus when the element that has it vanishes or is disabled for a while. Otherwise, a person with a keyboard
 * would start again at the top of the page. Dialogs and menus return the focus themselves.
 */
export function useKeptFocus(): void {
  useEffect(() => {
    let last: { element: Element; place: FocusPlace } | null = null
    const onFocus = ({ target }: FocusEvent) => {
      const isOurs = target instanceof Element && target.closest('.byref') !== null
      const isElsewhere = !isOurs || target.closest('[role=dialog], [role=menu]') !== null
      last = isElsewhere ? null : { element: target, place: placeOf(target) }
    }
    const onBlur = () => {
      // A removal also takes the focus, in some browsers with this event. It is over in the next microtask.
      queueMicrotask(() => {
        const isLeft = last?.element.isConnected && !last.element.matches(':disabled')
        if (isLeft && last?.element !== document.activeElement) last = null
      })
    }
    const observer = new MutationObserver(() => {
      if (last === null || !isFocusLost()) return
      const { element, place } = last
      if (!element.isConnected) focusNear(place)
      else if (!element.matches(':disabled')) (element as HTMLElement).focus()
    })
    document.addEventListener('focusin', onFocus)
    document.addEventListener('focusout', onBlur)
    observer.observe(document.body, {
      childList: true,
      subtree: true,
      attributeFilter: ['disabled'],
    })
    return () => {
      document.removeEventListener('focusin', onFocus)
      document.removeEventListener('focusout', onBlur)
      observer.disconnect()
    }
  }, [])
}
