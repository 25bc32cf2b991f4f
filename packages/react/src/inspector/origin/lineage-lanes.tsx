import { cn } from '../../ui/cn.ts'
import type { LineageRow } from './lineage-rows.ts'

const STEP = 12
const HEIGHT = 52
const MIDDLE = HEIGHT / 2
/** Maximum number of lanes. Further lanes are drawn as the last one. */
const MOST = 8

/** Returns the width of the lanes. */
export function lanesWidth(lanes: number): number {
  return Math.min(Math.max(lanes, 1), MOST) * STEP + 6
}

/** Draws the lines next to a node: incoming, outgoing, and passing ones. */
export function LineageLanes({
  row: { lane, incoming, passing, goesOn, node },
  lanes,
  isIt,
}: {
  row: LineageRow
  lanes: number
  isIt: boolean
}) {
  const x = (of: number) => Math.min(of, MOST - 1) * STEP + 9
  const at = x(lane)
  return (
    <svg
      aria-hidden
      viewBox={`0 0 ${lanesWidth(lanes)} ${HEIGHT}`}
      // It grows with the text.
      style={{ width: `${lanesWidth(lanes) / 16}rem`, height: `${HEIGHT / 16}rem` }}
      className="shrink-0 text-line-strong rtl:-scale-x-100"
      fill="none"
      stroke="currentColor"
      strokeWidth={1.5}
    >
      {passing.map((of) => (
        <path key={`p${of}`} d={`M${x(of)} 0V${HEIGHT}`} />
      ))}
      {incoming.map((of) => (
        <path
          key={`i${of}`}
          d={`M${x(of)} 0C${x(of)} ${MIDDLE * 0.7} ${at} ${MIDDLE * 0.3} ${at} ${MIDDLE}`}
        />
      ))}
      {goesOn && <path d={`M${at} ${MIDDLE}V${HEIGHT}`} />}
      <circle
        cx={at}
        cy={MIDDLE}
        r={isIt ? 5.5 : 4}
        stroke="none"
        className={cn(
          node.label?.integrity === 'untrusted' ? 'fill-warn' : isIt ? 'fill-ring' : 'fill-ink-3',
        )}
      />
    </svg>
  )
}
