import { isOffloaded, type OffloadedValue } from '../messages/offloaded.ts'
import type { FieldKey } from '../refs/field-path.ts'
import { formatVariable } from '../refs/variable-ref.ts'
import type { Board } from './board.ts'

/**
 * Returns the value above a place that is stored as an asset, and its path. Null if there is none. It looks for the
 * field `offloaded` first, because reading a whole value, such as a long list, takes time.
 */
export function offloadedAbove(
  board: Pick<Board, 'has' | 'read'>,
  { path, ...root }: { kind: string; instance?: string; path: readonly FieldKey[] },
): { path: readonly FieldKey[]; value: OffloadedValue } | null {
  for (let depth = 0; depth < path.length; depth++) {
    const above = path.slice(0, depth)
    if (!board.has(formatVariable(root, [...above, 'offloaded']))) continue
    const value = board.read(formatVariable(root, above))
    if (isOffloaded(value)) return { path: above, value }
  }
  return null
}
