import { useMemo, useState } from 'react'
import type { TimelineItem } from './timeline.ts'

const PAGE = 200

/** Which items are in the page: the newest 200, more when asked for, and always what the address names. */
export function useWindow(
  items: readonly TimelineItem[],
  hash: string,
): { start: number; showEarlier: () => void } {
  const [count, setCount] = useState(PAGE)
  const linked = useMemo(() => {
    const id = hash.startsWith('m-') ? hash.slice(2) : null
    if (!id) return items.length
    const index = items.findIndex(
      (item) =>
        item.key === id || (item.type === 'logs' && item.messages.some((log) => log.id === id)),
    )
    return index < 0 ? items.length : index
  }, [items, hash])
  const start = Math.max(0, Math.min(items.length - count, linked - 5))
  return { start, showEarlier: () => setCount(items.length - start + PAGE) }
}
