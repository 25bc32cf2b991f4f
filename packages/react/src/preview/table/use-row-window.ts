import { type RefObject, useCallback, useEffect, useState } from 'react'
import { canvasHeight, rowWindow, scrolledTo } from './row-window.ts'

/** Returns the visible part of a list of rows in a scrolling element. */
export function useRowWindow(
  scroller: RefObject<HTMLElement | null>,
  { count, rowHeight }: { count: number; rowHeight: number },
) {
  const [viewport, setViewport] = useState(400)
  const [place, setPlace] = useState({ top: 0, offset: 0 })
  const list = { count, rowHeight, viewport }
  useEffect(() => {
    const element = scroller.current
    if (!element) return
    const observer = new ResizeObserver(() => setViewport(element.clientHeight))
    observer.observe(element)
    return () => observer.disconnect()
  }, [scroller])
  const onScroll = useCallback(() => {
    const top = scroller.current?.scrollTop ?? 0
    setPlace((before) => scrolledTo({ count, rowHeight, viewport }, before, top))
  }, [scroller, count, rowHeight, viewport])
  return { ...rowWindow(list, place), height: canvasHeight(list), onScroll }
}
