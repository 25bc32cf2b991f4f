/** A list of rows with equal heights in a scrolling element. Everything except `count` is in pixels. */
export interface RowList {
  count: number
  rowHeight: number
  /** The height of the visible part. */
  viewport: number
}

/** The scroll position of a list: the browser's value, and the pixel of the whole list that is at the top. */
export interface ScrollPlace {
  top: number
  offset: number
}

/** Browsers cannot lay out more than about 17 million pixels. A higher list is scrolled proportionally. */
const HIGHEST = 8_000_000
/** Number of rows drawn above and below the visible part. */
const SPARE = 8

/** Returns the inner height of the scrolling element. */
export function canvasHeight({ count, rowHeight }: RowList): number {
  return Math.min(count * rowHeight, HIGHEST)
}

/**
 * Returns the position after the browser scrolled to `top`. In a list that is higher than its canvas, a short distance
 * is taken pixel by pixel, so that no row is skipped. A long one (the bar was dragged) is taken proportionally.
 */
export function scrolledTo(list: RowList, before: ScrollPlace, top: number): ScrollPlace {
  const height = list.count * list.rowHeight
  const canvas = canvasHeight(list)
  const end = Math.max(0, height - list.viewport)
  const last = Math.max(0, canvas - list.viewport)
  if (height <= canvas) return { top, offset: top }
  const way = top - before.top
  const isShort = Math.abs(way) <= list.viewport && top > 0 && top < last
  const offset = isShort ? before.offset + way : (top / Math.max(1, last)) * end
  return { top, offset: Math.min(end, Math.max(0, offset)) }
}

/**
 * Returns the rows to draw, from `first` up to but not including `last`, and the position of the first one in the
 * canvas.
 */
export function rowWindow(list: RowList, { top, offset }: ScrollPlace) {
  const { count, rowHeight, viewport } = list
  const first = Math.max(0, Math.floor(offset / rowHeight) - SPARE)
  const last = Math.min(count, Math.ceil((offset + viewport) / rowHeight) + SPARE)
  return { first, last, y: top - offset + first * rowHeight }
}
