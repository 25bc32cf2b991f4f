import type { KeyboardEvent, PointerEvent } from 'react'

/** Properties of {@link ResizeHandle}. Sizes are in pixels. */
export interface ResizeHandleProps {
  label: string
  size: number
  min: number
  max: number
  onResize: (size: number) => void
}

/** Renders the start edge of a pane at the end. It can be dragged, or moved with the arrow keys. */
export function ResizeHandle({ label, size, min, max, onResize }: ResizeHandleProps) {
  const resize = (wanted: number) => onResize(Math.round(Math.min(max, Math.max(min, wanted))))

  function onPointerDown(event: PointerEvent<HTMLElement>): void {
    const handle = event.currentTarget
    const { pointerId, clientX } = event
    event.preventDefault()
    handle.setPointerCapture(pointerId)
    const outwards = outwardsOf(handle)
    const move = (moved: globalThis.PointerEvent) =>
      resize(size + outwards * (moved.clientX - clientX))
    const stop = () => handle.removeEventListener('pointermove', move)
    handle.addEventListener('pointermove', move)
    handle.addEventListener('lostpointercapture', stop, { once: true })
  }

  function onKeyDown({ key, currentTarget }: KeyboardEvent<HTMLElement>): void {
    const outwards = outwardsOf(currentTarget)
    if (key === 'ArrowLeft') resize(size - 24 * outwards)
    if (key === 'ArrowRight') resize(size + 24 * outwards)
  }

  return (
    // biome-ignore lint/a11y/useSemanticElements: a rule cannot be moved; a separator with a value can
    <div
      role="separator"
      aria-orientation="vertical"
      aria-label={label}
      aria-valuenow={size}
      aria-valuemin={min}
      aria-valuemax={max}
      tabIndex={0}
      onPointerDown={onPointerDown}
      onKeyDown={onKeyDown}
      className="absolute inset-y-0 -inset-s-1 z-20 w-2 cursor-col-resize touch-none transition-colors hover:bg-ring/30 active:bg-ring/40"
    />
  )
}

/** Returns 1 if a move to the right makes the pane wider, otherwise -1. */
function outwardsOf(handle: HTMLElement): 1 | -1 {
  return getComputedStyle(handle).direction === 'rtl' ? 1 : -1
}
