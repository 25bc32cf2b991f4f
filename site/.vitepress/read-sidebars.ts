import { globSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import type { DefaultTheme } from 'vitepress'
import { root } from './pages.ts'

const API = join(root, 'site/api')

type Section = DefaultTheme.SidebarItem & { items: DefaultTheme.SidebarItem[] }

/**
 * The sidebars: the sections and pages of docs/llms.txt, in their order. A test keeps that file complete. The
 * reference, the decisions and the types have their own sidebars, because phones need time for every line.
 */
export function readSidebars(): DefaultTheme.SidebarMulti {
  const sections: Section[] = []
  for (const line of readFileSync(join(root, 'docs/llms.txt'), 'utf8').split('\n')) {
    const title = /^## (.*)/.exec(line)?.[1]
    if (title) sections.push({ text: title, items: [] })
    const [, text, page] = /^- \[(.*?)\]\((.*?)\.md\)/.exec(line) ?? []
    if (text && page) sections.at(-1)?.items.push({ text, link: `/${page.replace(/index$/, '')}` })
  }
  const decisions = sections.pop() as Section
  sections.at(-1)?.items.push({ text: 'Types of every entry', link: '/reference/api/' })
  const more = { ...MORE, items: [...decisions.items.slice(0, 1), ...MORE.items] }
  const isReference = ({ text }: Section): boolean => text === 'Reference'
  const reference = sections.filter(isReference)
  const guides = sections.filter((section) => !isReference(section))
  return {
    '/decisions/': [BACK, decisions],
    '/reference/api/': [BACK, { text: 'Types', items: apiPages() }],
    '/reference/': [BACK, ...reference],
    '/': [...guides, { text: 'Reference', link: '/reference/agent' }, more],
  }
}

function apiPages(): DefaultTheme.SidebarItem[] {
  return apiEntries().map(({ name, title }) => ({ text: title, link: `/reference/api/${name}` }))
}

/** The generated pages, one for each entry of the package: `byref` first. */
export function apiEntries(): { name: string; title: string }[] {
  const names = globSync('*.md', { cwd: API }).map((file) => basename(file, '.md'))
  return names
    .filter((name) => name !== 'README')
    .sort((a, b) => (a === 'byref' ? -1 : b === 'byref' ? 1 : a < b ? -1 : 1))
    .map((name) => ({ name, title: name === 'byref' ? name : `byref/${name}` }))
}

const BACK: DefaultTheme.SidebarItem = { text: '← Guides', link: '/get-started' }

const MORE: Section = {
  text: 'More',
  items: [
    { text: 'Measurements', link: '/more/measurements' },
    { text: 'Changes', link: '/more/changelog' },
    { text: 'Contributing', link: '/more/contributing' },
  ],
}
