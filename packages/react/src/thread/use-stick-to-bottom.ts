import { type RefObject, useCallback, useEffect, useLayoutEffect, useRef, useState } from 'react'

/** Maximum distance to the end that counts as being there, in pixels. */
const NEAR = 48

/** Events by which a user scrolls. */
const INPUTS = ['wheel', 'touchmove', 'pointerdown', 'keydown'] as const

/**
 * Keeps a scrolling element at its end while its content grows, but only if it is there. A user who scrolled up is not
 * disturbed. Neither is a user who sees a part that is not `isWhole`, because its end is not the real end.
 */
export function useStickToBottom(isWhole = true): {
  scroller: RefObject<HTMLDivElement | null>
  content: RefObject<HTMLDivElement | null>
  atBottom: boolean
  toBottom: () => void
  /** Stops following the end, to show something else, until the user scrolls. */
  release: () => void
} {
  const scroller = useRef<HTMLDivElement>(null)
  const content = useRef<HTMLDivElement>(null)
  const stuck = useRef(true)
  const whole = useRef(isWhole)
  const released = useRef(false)
  const [atBottom, setAtBottom] = useState(true)
  useLayoutEffect(() => {
    whole.current = isWhole
    if (!isWhole) stuck.current = false
  }, [isWhole])

  useEffect(() => {
    const outer = scroller.current
    const inner = content.current
    if (!outer || !inner) return
    let last = { top: 0, height: 0 }
    const onScroll = () => {
      const { scrollTop: top, scrollHeight: height, clientHeight } = outer
      const near = height - top - clientHeight < NEAR
      // Growing or shrinking content moves the end, too. Only scrolling up in unchanged content stops following it.
      // What is shown may be short at first, so that its beginning is at its end, too.
      if (near && !released.current) stuck.current = whole.current
      else if (top < last.top && height === last.height) stuck.current = false
      last = { top, height }
      setAtBottom(near || stuck.current)
    }
    const onInput = () => {
      released.current = false
    }
    const onWheel = (event: WheelEvent) => {
      if (event.deltaY < 0 && outer.scrollHeight > outer.clientHeight) stuck.current = false
    }
    // What a user opens or closes stays where it is.
    const onClick = (event: Event) => {
      const isToggle = (event.target as Element).closest('[aria-expanded], summary') !== null
      if (isToggle) stuck.current = false
    }
    const observer = new ResizeObserver(() => {
      if (stuck.current && !isWriting(inner)) outer.scrollTop = outer.scrollHeight
      onScroll()
    })
    observer.observe(inner)
    observer.observe(outer)
    outer.addEventListener('scroll', onScroll, { passive: true })
    outer.addEventListener('wheel', onWheel, { passive: true })
    outer.addEventListener('click', onClick, { capture: true })
    for (const type of INPUTS) outer.addEventListener(type, onInput, { passive: true })
    return () => {
      observer.disconnect()
      outer.removeEventListener('scroll', onScroll)
      outer.removeEventListener('wheel', onWheel)
      outer.removeEventListener('click', onClick, { capture: true })
      for (const type of INPUTS) outer.removeEventListener(type, onInput)
    }
  }, [])

  return {
    scroller,
    content,
    atBottom,
    release: useCallback(() => {
      released.current = true
      stuck.current = false
    }, []),
    toBottom: useCallback(() => {
      released.current = false
      stuck.current = true
      whole.current = true
      const isStill = matchMedia('(prefers-reduced-motion: reduce)').matches
      const behavior = isStill ? 'instant' : 'smooth'
      scroller.current?.scrollTo({ top: scroller.current.scrollHeight, behavior })
    }, []),
  }
}

/** Returns whether a person writes in a field of the element, which must not move away. */
function isWriting(element: Element): boolean {
  const { activeElement } = document
  return element.contains(activeElement) && activeElement?.matches('input, textarea') === true
}
