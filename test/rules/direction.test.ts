import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'

// The workbench also works on right-to-left pages. So its classes and styles use the start and the end of a line, not
// left and right. This checks all string literals of the components, style objects, and CSS.

const root = fileURLToPath(new URL('../..', import.meta.url))

const FILES = globSync('{packages/react/src,web}/**/*.{ts,tsx,css,html}', {
  cwd: root,
  exclude: ['**/*.test.*', '**/node_modules/**', '**/dist/**'],
})

/** Physical Tailwind classes, with their logical replacements. Variants such as `sm:` and a minus can precede them. */
const CLASSES: readonly [RegExp, string][] = [
  [/^-?m[lr]-/, 'ms-, me-'],
  [/^-?p[lr]-/, 'ps-, pe-'],
  [/^-?(?:left|right)-(?:\d|\[|\(|px$|full$|auto$)/, 'inset-s-, inset-e-'],
  [/^-?scroll-[mp][lr]-/, 'scroll-ms-, scroll-pe-, …'],
  [/^border-[lr](?:-|$)/, 'border-s, border-e'],
  [/^rounded-(?:[lr]|[tb][lr])(?:-|$)/, 'rounded-s, rounded-es, …'],
  [/^text-(?:left|right)$/, 'text-start, text-end'],
  [/^(?:float|clear)-(?:left|right)$/, 'float-start, clear-end, …'],
  [/^-?translate-x-/, 'inset-x-0 mx-auto, or a variant rtl: with the other sign'],
  [/^bg-(?:linear|gradient)-to-(?:[lr]|[tb][lr])$/, 'a gradient from top to bottom'],
]

/** Physical properties, in CSS and in style objects. */
const PROPERTIES =
  /^\s*(?:(?:margin|padding|border)-?(?:left|right)[\w-]*|left|right|border-?(?:top|bottom)-?(?:left|right)-?radius)\s*:|^\s*(?:text-align|textAlign|float|clear)\s*:\s*['"]?(?:left|right)\b/i

/** Places that need a physical side, and why. Each is a file and the text of the line. */
const EXCEPTIONS: readonly { file: string; line: string; why: string }[] = [
  {
    file: 'packages/react/src/styles.css',
    line: 'text-align: right;',
    why: 'On a page from right to left, `start` would follow each English text to the left.',
  },
  {
    file: 'packages/react/src/styles.css',
    line: 'text-align: left;',
    why: 'The other end of the same rule.',
  },
]

/** Returns the physical classes and properties in a file. */
function physicalIn(file: string, text: string): string[] {
  const found: string[] = []
  for (const [index, line] of text.split('\n').entries()) {
    const say = (what: string, instead: string) =>
      found.push(`${file}:${index + 1}: ${what} (write ${instead})`)
    const isExcepted = EXCEPTIONS.some((one) => one.file === file && line.trim() === one.line)
    const styles = file.endsWith('.css') ? [line] : line.split(/style=\{\{|[{,]/)
    const hasSide = styles.some((part) => PROPERTIES.test(part))
    if (hasSide && !isExcepted) say(line.trim(), 'the logical property')
    for (const word of line.split(/[\s'"`]+/)) {
      const name = word.split(':').at(-1) ?? ''
      const rule = CLASSES.find(([pattern]) => pattern.test(name))
      if (rule && !isComment(line)) say(word, rule[1])
    }
  }
  return found
}

function isComment(line: string): boolean {
  return /^\s*(?:\/\/|\/?\*)/.test(line)
}

describe('the workbench uses no left or right', () => {
  it('in classes and styles', () => {
    expect(FILES.length).toBeGreaterThan(200)
    const found = FILES.flatMap((file) => physicalIn(file, readFileSync(join(root, file), 'utf8')))
    expect(found).toEqual([])
  })

  it('in listed exceptions that no longer exist', () => {
    const stale = EXCEPTIONS.filter(({ file, line }) => {
      const lines = readFileSync(join(root, file), 'utf8').split('\n')
      return !lines.some((one) => one.trim() === line)
    })
    expect(stale).toEqual([])
  })

  it.each([
    ['className="flex ml-2"', 1],
    ['className="sm:-mr-[7px] pl-3 border-l text-left"', 4],
    ["cn('absolute left-1/2', open && 'right-0')", 2],
    ['style={{ left: 3, width: 4 }}', 1],
    ['style={{ width: 3, marginLeft: 3 }}', 1],
    ['className="ms-2 pe-3 inset-s-0 border-e text-start rounded-lg"', 0],
    ['const { leftOut, right_answer } = what // is left over', 0],
  ])('and the check finds what it looks for: %s', (line, count) => {
    expect(physicalIn('example.tsx', line)).toHaveLength(count)
  })
})
