import { type ClassValue, clsx } from 'clsx'
import { createTailwindMerge } from 'tailwind-merge'

const any = () => true

const merge = createTailwindMerge(() => ({
  cacheSize: 500,
  theme: {},
  // Only the properties that components override. The library's own table is ten times as large, and loads first.
  classGroups: {
    display: ['block', 'inline-block', 'flex', 'inline-flex', 'grid', 'hidden', 'contents'],
    position: ['static', 'relative', 'absolute', 'fixed', 'sticky'],
    wrap: ['flex-wrap', 'flex-nowrap'],
    justify: [{ justify: [any] }],
    size: [{ size: [any] }],
    h: [{ h: [any] }],
    w: [{ w: [any] }],
    minH: [{ 'min-h': [any] }],
    maxH: [{ 'max-h': [any] }],
    minW: [{ 'min-w': [any] }],
    maxW: [{ 'max-w': [any] }],
    p: [{ p: [any] }],
    px: [{ px: [any] }],
    py: [{ py: [any] }],
    ps: [{ ps: [any] }],
    pe: [{ pe: [any] }],
    z: [{ z: [any] }],
    bg: [{ bg: [any] }],
    opacity: [{ opacity: [any] }],
    rounded: [{ rounded: ['', 'xs', 'sm', 'md', 'lg', 'xl', 'full', 'none'] }],
    borderStyle: [{ border: ['solid', 'dashed', 'dotted'] }],
    borderWidth: [{ border: ['', '0', '2'] }],
    borderTop: [{ 'border-t': ['', '0', '2'] }],
    borderEnd: [{ 'border-e': ['', '0', '2'] }],
    borderBottom: [{ 'border-b': ['', '0', '2'] }],
    borderStart: [{ 'border-s': ['', '0', '2'] }],
    borderColor: [{ border: [any] }],
    fontSize: [{ text: ['2xs', 'xs', 'sm', 'base', 'lg', 'xl', '2xl'] }],
    textAlign: [{ text: ['center', 'start', 'end'] }],
    color: [{ text: [any] }],
    weight: [{ font: ['normal', 'medium', 'semibold', 'bold'] }],
    whitespace: [{ whitespace: [any] }],
  },
  conflictingClassGroups: { size: ['h', 'w'], p: ['px', 'py', 'ps', 'pe'], px: ['ps', 'pe'] },
  conflictingClassGroupModifiers: {},
  orderSensitiveModifiers: [],
}))

/** Joins class names. A later one overrides an earlier one for the same property. */
export function cn(...values: ClassValue[]): string {
  return merge(clsx(values))
}
