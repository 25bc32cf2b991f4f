import { type RefObject, useEffect, useRef, useState } from 'react'

/** How near to the end still counts as being there, in pixels. */
const NEAR = 48

/**
 * Keeps a scrolling element at its end while its content grows, if and only if it is there: whoever scrolled up reads
 * on undisturbed.
 */
export function useStickToBottom(): {
  scroller: RefObject<HTMLDivElement | null>
  content: RefObject<HTMLDivElement | null>
  atBottom: boolean
  toBottom: () => void
} {
  const scroller = useRef<HTMLDivElement>(null)
  const content = useRef<HTMLDivElement>(null)
  const stuck = useRef(true)
  const [atBottom, setAtBottom] = useState(true)

  useEffect(() => {
    const outer = scroller.current
    const inner = content.current
    if (!outer || !inner) return
    let lastTop = outer.scrollTop
    const onScroll = () => {
      const near = outer.scrollHeight - outer.scrollTop - outer.clientHeight < NEAR
      // Growing content also moves the end away: only a way up lets go.
      if (near) stuck.current = true
      else if (outer.scrollTop < lastTop) stuck.current = false
      lastTop = outer.scrollTop
      setAtBottom(near || stuck.current)
    }
    const observer = new ResizeObserver(() => {
      if (stuck.current) outer.scrollTop = outer.scrollHeight
      else onScroll()
    })
    observer.observe(inner)
    observer.observe(outer)
    outer.addEventListener('scroll', onScroll, { passive: true })
    return () => {
      observer.disconnect()
      outer.removeEventListener('scroll', onScroll)
    }
  }, [])

  return {
    scroller,
    content,
    atBottom,
    toBottom: () => {
      stuck.current = true
      scroller.current?.scrollTo({ top: scroller.current.scrollHeight, behavior: 'smooth' })
    },
  }
}
