/** How a list of rows of one height lies in what scrolls; all in pixels but `count`. */
export interface RowList {
  count: number
  rowHeight: number
  /** How much of it is in sight. */
  viewport: number
}

/** Where a list is scrolled to: what the browser says, and which pixel of the whole list is at the top. */
export interface ScrollPlace {
  top: number
  offset: number
}

/** Browsers lay out nothing higher than some 17 million pixels; a list that is higher is scrolled by proportion. */
const HIGHEST = 8_000_000
/** Rows drawn above and below what is in sight. */
const SPARE = 8

/** How high the element that scrolls is inside. */
export function canvasHeight({ count, rowHeight }: RowList): number {
  return Math.min(count * rowHeight, HIGHEST)
}

/**
 * Where the list is after the browser scrolled to `top`: of a list that is higher than its canvas, a short way is taken
 * pixel by pixel, so that no row is passed over, and a long one (the bar was dragged) by proportion.
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

/** The rows to draw, `first` up to but not including `last`, and where the first one lies in the canvas. */
export function rowWindow(list: RowList, { top, offset }: ScrollPlace) {
  const { count, rowHeight, viewport } = list
  const first = Math.max(0, Math.floor(offset / rowHeight) - SPARE)
  const last = Math.min(count, Math.ceil((offset + viewport) / rowHeight) + SPARE)
  return { first, last, y: top - offset + first * rowHeight }
}
