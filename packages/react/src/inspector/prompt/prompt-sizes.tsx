import { BYTES_PER_TOKEN } from '../../thread/saved.ts'
import { cn } from '../../ui/cn.ts'
import { formatBytes, formatCount, formatShare, formatTenths } from '../../ui/format.ts'
import { Section } from '../section.tsx'
import type { ReadPrompt, Share } from './read-prompt.ts'
import type { Savings } from './savings.ts'
import { SHARES } from './shares.ts'

/** Renders the size of a prompt and of its parts, and its size without references. */
export function PromptSizes({
  prompt: { sizes, total },
  savings,
}: {
  prompt: ReadPrompt
  savings: Savings
}) {
  const shares = (Object.keys(SHARES) as Share[]).filter((share) => sizes[share] > 0)
  return (
    <Section
      title="Size"
      aside={<span className="text-xs font-medium tabular-nums">{formatBytes(total)}</span>}
    >
      <div aria-hidden className="flex h-2 gap-px overflow-hidden rounded-full">
        {shares.map((share) => (
          <span
            key={share}
            data-bar
            className={cn('min-w-[3px]', SHARES[share].color)}
            style={{ flexGrow: sizes[share] / Math.max(1, total), flexBasis: 0 }}
          />
        ))}
      </div>
      <dl className="flex flex-wrap gap-x-4 gap-y-0.5 pt-0.5 text-xs">
        {shares.map((share) => (
          <div key={share} className="flex items-center gap-1.5">
            <dt className="flex items-center gap-1.5 text-ink-2">
              <span
                aria-hidden
                data-bar
                className={cn('size-2 rounded-full', SHARES[share].color)}
              />
              {SHARES[share].name}
            </dt>
            <dd className="text-ink-3 tabular-nums">
              {formatBytes(sizes[share])} · {formatShare(sizes[share] / Math.max(1, total))}
            </dd>
          </div>
        ))}
      </dl>
      <Saved total={total} savings={savings} />
    </Section>
  )
}

function Saved({ total, savings: { assets, byValue } }: { total: number; savings: Savings }) {
  const saved = byValue - total
  if (assets === 0 || saved <= 0) return null
  const times = byValue / Math.max(1, total)
  return (
    <p className="rounded-md bg-good-soft px-2.5 py-1.5 text-xs text-good">
      <strong className="font-semibold">{formatBytes(saved)} saved by reference.</strong> With{' '}
      {formatCount(assets)} {assets === 1 ? 'file' : 'files'} by value, this prompt would be{' '}
      {formatBytes(byValue)}: {times < 10 ? formatTenths(times) : formatCount(Math.round(times))}{' '}
      times as large. That is about {formatCount(Math.round(total / BYTES_PER_TOKEN))} tokens
      instead of {formatCount(Math.round(byValue / BYTES_PER_TOKEN))}.
    </p>
  )
}
