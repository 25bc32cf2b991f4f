import { globSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { AGENT_OPTIONS } from '../../src/agent/agent-options.ts'
import { TOOL_OPTIONS } from '../../src/boundary/tool.ts'
import { HTTP_STATUS } from '../../src/core/errors.ts'
import { EVENT_TYPES, isStreamed } from '../../src/core/events/events.ts'
import { eventFields, wordsOf } from './event-types.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const read = (file: string) => readFileSync(join(root, file), 'utf8')
const pages = globSync('docs/**/*.md', { cwd: root }).sort()
const withoutCode = (text: string) => text.replace(/^```[\s\S]*?^```/gm, '')
const headings = (text: string) =>
  [...withoutCode(text).matchAll(/^#+ (.*)/gm)].map(([, heading = '']) => heading)

/** Returns the id of a heading by GitHub's rule, which the site also uses. */
function idOf(heading: string): string {
  const words = heading.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1').toLowerCase()
  return words.replace(/[^\p{L}\p{N}_ -]/gu, '').replaceAll(' ', '-')
}

/** Returns the text of a page under a heading, up to the next one. */
function under(page: string, heading: string): string {
  return (read(page).split(new RegExp(`^#+ ${heading}$`, 'm'))[1] ?? '').split(/^#+ /m)[0] ?? ''
}

/** Returns the first cells of its table rows, which are names in code, without the `?` of optional fields. */
function names(text: string): string[] {
  const rows = [...text.matchAll(/^\| (`.*?) \|/gm)].map(([, cell = '']) => cell)
  return rows.flatMap((cell) => [...cell.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name))
}

describe('docs/llms.txt', () => {
  const entries = [...read('docs/llms.txt').matchAll(/^- \[(.*?)\]\((.*?)\): (.+)$/gm)]

  it('lists every page once', () => {
    const listed = entries.map(([, , page]) => `docs/${page}`)
    expect(listed.toSorted()).toEqual(pages)
  })

  it('has the titles of the pages', () => {
    for (const [, title, page] of entries) {
      const heading = /^# (.*)/.exec(read(`docs/${page}`))?.[1]
      expect(title, page).toBe(heading?.replaceAll('`', ''))
    }
  })
})

describe('links in docs', () => {
  it('lead to existing headings', () => {
    const missing = []
    for (const page of ['README.md', 'CONTRIBUTING.md', ...pages]) {
      const links = withoutCode(read(page)).matchAll(/\]\((?!https?:)([^)#\s]*)#([^)\s]+)\)/g)
      for (const [, path = '', id] of links) {
        const file = path === '' ? page : relative(root, resolve(root, dirname(page), path))
        const ids = headings(read(file)).map(idOf)
        if (!ids.includes(`${id}`)) missing.push(`${page} → ${file}#${id}`)
      }
    }
    expect(missing).toEqual([])
  })
})

describe('docs/reference/events.md', () => {
  const page = 'docs/reference/events.md'
  const types = eventFields(root)

  it('has every event, and no other', () => {
    const titles = headings(read(page)).filter((title) => /^[A-Z_]+$/.test(title))
    expect(titles.toSorted()).toEqual([...EVENT_TYPES].sort())
  })

  it.each(EVENT_TYPES)('has the fields of %s', (type) => {
    const text = under(page, type)
    expect(fieldsOf(text)).toEqual(types.get(type))
    expect(text.includes('Durable.')).toBe(!isStreamed(type))
  })

  it.each([
    ['Assets', 'AssetCreated'],
    ['Failures of assets', 'AssetFailed'],
    ['Usage', 'TokenUsage'],
    ['Messages', 'Message'],
  ])('has the fields of %s', (heading, type) => {
    expect(fieldsOf(under(page, heading))).toEqual(types.get(type))
  })

  it('has the words of every choice', () => {
    const words = wordsOf(root, 'FinishReason', 'CompactionReason', 'Delivery', 'AssetOrigin')
    expect(words.length).toBeGreaterThan(15)
    for (const word of words) expect(read(page), word).toContain(`\`${word}\``)
  })
})

describe('docs/reference/errors.md', () => {
  it('has every code with its status, and no other', () => {
    const rows = read('docs/reference/errors.md').matchAll(
      /^\| `(\w+)` \| (\d+) \| (.+) \| (.+) \|$/gm,
    )
    const found = [...rows].map(([, code, status]) => [code, Number(status)])
    expect(found.toSorted()).toEqual(Object.entries(HTTP_STATUS).sort())
  })
})

describe('docs/reference', () => {
  it('has the options of agents and tools', () => {
    const [agent, tools] = ['agent', 'tools'].map((name) => `docs/reference/${name}.md`)
    const nested = Object.keys(AGENT_OPTIONS).filter((name) => !['history', 'media'].includes(name))
    expect(names(under(agent as string, 'Options'))).toEqual(expect.arrayContaining(nested))
    const written = names(under(tools as string, 'Options')).map((name) => name.split('(')[0])
    expect(written).toEqual(expect.arrayContaining(Object.keys(TOOL_OPTIONS)))
  })

  it.each(['serve', 'work', 'run', 'assets', 'log', 'mcp', 'eval', 'token'])(
    'has the help of byref %s',
    async (command) => {
      const { HELP } = await import(`../../src/cli/${command}-command.ts`)
      expect(read('docs/reference/cli.md')).toContain(`\`\`\`text\n${HELP.trimEnd()}\n\`\`\``)
    },
  )

  it('has the variables of the environment that the commands read', () => {
    // Set by scripts/launch.mjs and npm, not by people.
    const internal = ['BYREF_LAUNCHED', 'npm_lifecycle_event']
    const files = globSync('src/{cli,models}/**/*.ts', { cwd: root }).filter(
      (file) => !file.includes('.test.'),
    )
    const uses = files.flatMap((file) => read(file).match(/\b(env|environment)\.\w+_\w+/g) ?? [])
    const variables = [...new Set(uses.map((text) => text.split('.')[1] ?? ''))]
    expect(variables).toContain('BYREF_SECRET')
    const text = read('docs/reference/configuration.md')
    const isThere = (name: string) => text.includes(`\`${name}`) || name.startsWith('AWS_')
    expect(variables.filter((name) => !internal.includes(name) && !isThere(name))).toEqual([])
  })
})

/** Returns the fields in a page's table, each with its `?`. */
function fieldsOf(text: string): string[] {
  return [...text.matchAll(/^\| `(\w+\??)` \|/gm)].map(([, field = '']) => field).sort()
}
