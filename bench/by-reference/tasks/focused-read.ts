import { z } from 'zod'
import type { BenchTool, Task, Way } from '../play.ts'
import { prose } from '../words.ts'

const source = prose(24_000, 5)
  .map((line) => `// ${line}`)
  .join('\n')
const tools: BenchTool[] = [
  {
    id: 'read_file',
    description: 'Reads a file',
    input: z.object({ path: z.string() }),
    execute: () => source,
  },
  {
    id: 'replace',
    description: 'Replaces a text in a file',
    input: z.object({ path: z.string(), old: z.string(), new: z.string() }),
    execute: () => ({ replaced: 1 }),
  },
]
const path = 'src/plans.ts'
const way: Way = {
  tools,
  instructions: 'You are a careful programmer. Read before you change.',
  says: [{ role: 'user', content: 'Rename the constant in src/plans.ts.' }],
  answers: [
    { calls: [{ name: 'read_file', arguments: { path } }] },
    {
      calls: [{ name: 'replace', arguments: { path, old: 'const PLAN =', new: 'const PLANS =' } }],
    },
    {
      calls: [{ name: 'replace', arguments: { path, old: 'return PLAN[', new: 'return PLANS[' } }],
    },
    'I renamed PLAN to PLANS in src/plans.ts, in two places.',
  ],
}

/** The model needs the whole file. References save nothing. */
export const focusedRead: Task = {
  name: 'focused read',
  about: 'a file of 24 kB that is needed whole, changed in two places',
  byref: () => way,
  value: () => way,
}
