import { twMerge } from 'tailwind-merge'
import { describe, expect, it } from 'vitest'
import { buttonClass } from './button.tsx'
import { cn } from './cn.ts'

describe('cn', () => {
  it('joins existing class names', () => {
    expect(cn('a', false, null, ['b', { c: true, d: false }])).toBe('a b c')
  })

  it.each([
    [buttonClass('ghost', true), 'size-6 text-ink-3 [&_svg]:size-3.5'],
    [buttonClass('outline'), 'h-6 px-1.5 text-2xs font-normal rounded-full bg-raised'],
    [buttonClass('solid'), 'w-full justify-between text-sm/6 whitespace-normal'],
    ['border border-line rounded-lg', 'border-bad-line border-dashed rounded-t-none'],
    ['sticky z-10 border-b border-line p-0 text-start', 'z-20 border-e ps-3 text-xs'],
    ['relative inline-flex flex-wrap gap-1 max-w-full', 'absolute flex flex-nowrap max-w-52'],
    ['max-h-96 max-w-full min-h-7', 'max-h-40 min-h-0'],
    ['hover:bg-hover pointer-coarse:size-9', 'hover:bg-selected pointer-coarse:size-7'],
    ['text-ink-3 opacity-0 size-4', 'text-base opacity-100 h-5 text-bad'],
  ])('overrides like the whole table: %s | %s', (base, more) => {
    expect(cn(base, more)).toBe(twMerge(base, more))
  })
})
