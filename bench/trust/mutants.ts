/**
 * Tests the attacks of `attack.ts`. Each mutant is a copy of the sources with one broken check, and the matrix, the
 * single attacks or the search must find a leak in it. `node bench/trust/mutants.ts [--attacks 1500] [--only <part
 * of a name>]`
 */
import { execFile } from 'node:child_process'
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs, promisify } from 'node:util'

const { values } = parseArgs({
  options: { attacks: { type: 'string', default: '1500' }, only: { type: 'string' } },
})
const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const run = promisify(execFile)

/** A file, the text to replace, and its replacement. */
const MUTANTS: readonly (readonly [name: string, file: string, from: string, to: string])[] = [
  [
    'joined labels are trusted where one is',
    'src/core/labels/label.ts',
    'if (a === b || b === TRUSTED) return a',
    'if (a === b || b === TRUSTED) return b',
  ],
  [
    'values with fields of their own are shown whole',
    'src/core/labels/redact-value.ts',
    'if (!tree.fields || !isRedacted(tree)) return value',
    'return value',
  ],
  [
    'errors are shown',
    'src/prompt/redaction.ts',
    "const failure = { code: 'tool_failed', message: reason }",
    "const failure = { code: 'tool_failed', message: reason + JSON.stringify(error) }",
  ],
  [
    'keys of what is not shown are told',
    'src/core/labels/redact-value.ts',
    'if (Array.isArray(value)) return `list,',
    'if (!Array.isArray(value)) return Object.keys(value).join()\n  if (Array.isArray(value)) return `list,',
  ],
  [
    'parameters inside a value are not looked at',
    'src/policies/trust/check-flow.ts',
    'const inside = places.filter((place) => place !== around && isBelow(place.path, path))',
    'const inside: Place[] = []',
  ],
  [
    'the length of a list is not looked at',
    'src/policies/trust/trust-policy.ts',
    'if (!each) return []',
    'if (each) return []',
  ],
  [
    'one branch of a schema opens the others',
    'src/policies/trust/check-flow.ts',
    'accepts: narrowest(found.map(clearanceIn(base))) })\n    // The',
    "accepts: { integrity: 'untrusted', confidentiality: 'private' } })\n    // The",
  ],
  [
    'a closed parameter takes anything',
    'src/policies/trust/closed-values.ts',
    'const closed = alternatives.find((schema) => isClosedValue(schema, value))',
    'const closed = alternatives.find((schema) => closedBits(schema) !== null)',
  ],
  [
    'a format is not looked at to its end',
    'src/policies/trust/closed-values.ts',
    'FORMATS[format as Format].pattern.test(value)',
    'FORMATS[format as Format].pattern.test(value.slice(0, 10))',
  ],
  [
    'tools forget what they were given',
    'src/policies/trust/tracked-execution.ts',
    'tool.readOnly ? TRUSTED : this.#labels.keep(tool.id, this.#all())',
    'TRUSTED',
  ],
  [
    'what a tool reads itself is not noted',
    'src/policies/trust/note-reads.ts',
    'read: (found) => note(found.labels ? wholeOf(found.labels) : UNKNOWN)',
    'read: () => {}',
  ],
  [
    'an asset that no conversation knows is trusted',
    'src/core/labels/label.ts',
    "export const UNKNOWN: Label = Object.freeze({ ...UNTRUSTED, confidentiality: 'private' })",
    'export const UNKNOWN: Label = TRUSTED',
  ],
  [
    'a message of anybody is trusted',
    'src/core/labels/labels.ts',
    'return isSpeaker(sender) ? { label: TRUSTED } : untrusted',
    'return { label: TRUSTED }',
  ],
  [
    'names and types of files are shown',
    'src/prompt/redaction.ts',
    'if (!hides(one.assetRef)) return one',
    'return one',
  ],
  [
    'the part of a text is trusted',
    'src/boundary/resolve.ts',
    'reads.push({ path: place.path(), ref: nameOf(mark), labels: { label: wholeOf(labels) } })',
    'void nameOf(mark)',
  ],
  [
    'closed answers are not looked at',
    'src/policies/trust/trust-policy.ts',
    'if (!isClosedValue(schema, outcome.value)) return outcome',
    '',
  ],
  [
    'a value set over another one leaves its label',
    'src/core/labels/data-labels.ts',
    "if (method === 'set') return withTreeAt(before, path, tree)",
    "if (method === 'set') return before",
  ],
  [
    'failures are labelled by their context alone',
    'src/policies/trust/result-labels.ts',
    'return WITHOUT_VALUES.has(code) ? context : received',
    'return context',
  ],
]

let missed = 0
for (const [name, file, from, to] of MUTANTS) {
  if (!new RegExp(values.only ?? '').test(name)) continue
  const folder = await mkdtemp(join(tmpdir(), 'byref-mutant-'))
  try {
    for (const part of ['src', 'bench', 'package.json', 'tsconfig.json'])
      await cp(join(ROOT, part), join(folder, part), {
        recursive: true,
        filter: (one) => !one.includes('node_modules'),
      })
    await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
    const text = await readFile(join(folder, file), 'utf8')
    if (!text.includes(from)) throw new Error(`${file} has no more "${from}"`)
    await writeFile(
      join(folder, file),
      text.replace(from, () => to),
    )
    const found = []
    for (const part of ['matrix', 'ways', 'search'])
      found.push(`${part} ${await leaksOf(folder, part)}`)
    const isFound = found.some((one) => !one.endsWith('nothing'))
    if (!isFound) missed++
    console.log(`${isFound ? 'found ' : 'MISSED'} ${name}: ${found.join(', ')}`)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
process.exitCode = missed > 0 ? 1 : 0

/** Returns after how many attacks one succeeds in the copy. */
async function leaksOf(folder: string, part: string): Promise<string> {
  const args = ['--conditions=byref-source', '--disable-warning=ExperimentalWarning']
  const program = join(folder, 'bench/trust/attack.ts')
  const own = ['--first', '--only', part, '--attacks', String(values.attacks)]
  const { stdout } = await run(process.execPath, [...args, program, ...own], {
    maxBuffer: 2 ** 26,
  }).catch((error) => error)
  const [, played, found] = /(\d+) attacks, (\d+) succeeded/.exec(stdout) ?? []
  return found === '0' ? 'nothing' : `after ${played ?? '?'}`
}
