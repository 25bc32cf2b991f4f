import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type DefaultTheme, defineConfig } from 'vitepress'
import { linkToPages } from './link-to-pages.ts'
import { copyMarkdown, serveMarkdown } from './markdown-files.ts'
import { pageOf, root } from './pages.ts'
import { readSidebar } from './read-sidebar.ts'

const description = 'Pass-by-reference for LLM agents: every file, fact and tool result gets an address'
const icon = readFileSync(join(root, 'web/public/favicon.svg'), 'utf8')

const themeConfig: DefaultTheme.Config = {
  search: { provider: 'local' },
  nav: [
    { text: 'Get started', link: '/get-started' },
    { text: 'Guides', link: '/guides/references' },
    { text: 'Reference', link: '/reference/agent' },
  ],
  sidebar: readSidebar(),
  outline: { level: [2, 3], label: 'On this page' },
}

export default defineConfig({
  title: 'byref',
  description,
  lang: 'en',
  head: [['link', { rel: 'icon', href: `data:image/svg+xml,${encodeURIComponent(icon)}` }]],
  // The whole repository, so that pages may link to examples, sources and the measurements. Few folders have pages.
  srcDir: root,
  srcExclude: ['!(docs|bench|site)/**', 'README.md', 'AGENTS.md', 'bench/*/**', 'site/*.md'],
  rewrites: pageOf,
  outDir: 'dist',
  cacheDir: '.cache',
  metaChunk: true,
  markdown: {
    html: false,
    theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
    config: (markdown) => linkToPages(markdown),
  },
  vite: { publicDir: false, plugins: [serveMarkdown()] },
  buildEnd: ({ outDir }) => copyMarkdown(outDir),
  themeConfig,
})
