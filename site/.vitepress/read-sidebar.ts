import { existsSync, globSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import type { DefaultTheme } from 'vitepress'
import { root } from './pages.ts'

const API = join(root, 'site/api')

/** The sidebar: the sections and pages of docs/llms.txt, in their order. A test keeps that file complete. */
export function readSidebar(): DefaultTheme.SidebarItem[] {
  const sections: (DefaultTheme.SidebarItem & { items: DefaultTheme.SidebarItem[] })[] = []
  for (const line of readFileSync(join(root, 'docs/llms.txt'), 'utf8').split('\n')) {
    const title = /^## (.*)/.exec(line)?.[1]
    if (title) sections.push({ text: title, items: [], collapsed: title === 'Decisions' })
    const [, text, page] = /^- \[(.*?)\]\((.*?)\.md\)/.exec(line) ?? []
    if (text && page) sections.at(-1)?.items.push({ text, link: `/${page}` })
  }
  const reference = sections.find(({ text }) => text === 'Reference')
  if (existsSync(API)) reference?.items.push({ text: 'API', collapsed: true, items: apiPages() })
  return [...sections, MORE]
}

function apiPages(): DefaultTheme.SidebarItem[] {
  const names = globSync('*.md', { cwd: API }).map((file) => basename(file, '.md'))
  return names
    .filter((name) => name !== 'README')
    .sort((a, b) => (a === 'byref' ? -1 : b === 'byref' ? 1 : a < b ? -1 : 1))
    .map((name) => ({
      text: name === 'byref' ? name : `byref/${name}`,
      link: `/reference/api/${name}`,
    }))
}

const MORE: DefaultTheme.SidebarItem = {
  text: 'More',
  collapsed: true,
  items: [
    { text: 'Measurements', link: '/more/measurements' },
    { text: 'Changes', link: '/more/changelog' },
    { text: 'Contributing', link: '/more/contributing' },
  ],
}
