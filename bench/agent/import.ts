// The cost of `import 'byref'`: node bench/agent/import.ts [rounds], after npm run build:lib
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { printMachine } from '../assets/measure.ts'

const at = (path: string) => new URL(`../../${path}`, import.meta.url).href
const built = at('dist/index.js')
const imports: Record<string, string> = {
  'node -e 0': '',
  byref: `await import('${built}')`,
  'byref, from its sources': `await import('${at('src/index.ts')}')`,
  ai: `await import('${at('bench/node_modules/ai/dist/index.js')}')`,
}

if (!existsSync(fileURLToPath(built))) throw new Error('There is no dist: npm run build:lib')
const rounds = Number(process.argv[2] ?? 15)
const taken = Object.keys(imports).map((name) => ({ name, ms: [] as number[], mb: [] as number[] }))
for (let round = 0; round < rounds; round++) {
  for (const { name, ms, mb } of taken) {
    const figures = inFreshProcess(imports[name] ?? '')
    ms.push(figures.ms)
    mb.push(figures.mb)
  }
}

printMachine()
console.log(`\nmedian of ${rounds} fresh processes, in turn (goal: 60 ms and 12 MB)`)
const bare = median(taken[0]?.mb ?? [])
for (const { name, ms, mb } of taken) {
  const more = (median(mb) - bare).toFixed(1)
  const time = median(ms).toFixed(1).padStart(7)
  console.log(`  ${name.padEnd(26)} ${time} ms  (least ${Math.min(...ms).toFixed(1)})  +${more} MB`)
}

/** The time of an import alone, without the start of Node, and the memory of the process after it. */
function inFreshProcess(code: string): { ms: number; mb: number } {
  const program = `const start = performance.now(); ${code}
    const ms = performance.now() - start
    console.log(JSON.stringify({ ms, mb: process.memoryUsage().rss / 1e6 }))`
  const flags = ['--no-warnings', '--input-type=module', '-e', program]
  const { status, stdout, stderr } = spawnSync(process.execPath, flags, { encoding: 'utf8' })
  if (status !== 0) throw new Error(stderr)
  return JSON.parse(stdout)
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0
}
