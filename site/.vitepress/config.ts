import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type DefaultTheme, defineConfig, type MarkdownEnv, type MarkdownRenderer } from 'vitepress'
import { copyFiles, serveLlmsTxt } from './copied-files.ts'
import { labelTables } from './label-tables.ts'
import { linkToPages } from './link-to-pages.ts'
import { idOf, pageOf, root } from './pages.ts'
import { readSidebars } from './read-sidebars.ts'

const description =
  'Pass-by-reference for LLM agents: every file, fact and tool result gets an address'
const icon = readFileSync(join(root, 'web/public/favicon.svg'), 'utf8')

const themeConfig: DefaultTheme.Config = {
  search: { provider: 'local', options: { _render: searchedText } },
  nav: [
    { text: 'Get started', link: '/get-started' },
    { text: 'Guides', link: '/guides/references' },
    { text: 'Reference', link: '/reference/agent' },
  ],
  sidebar: readSidebars(),
  outline: { level: [2, 3], label: 'On this page' },
}

export default defineConfig({
  title: 'byref',
  description,
  lang: 'en',
  head: [['link', { rel: 'icon', href: `data:image/svg+xml,${encodeURIComponent(icon)}` }]],
  // The whole repository, so that pages may link to examples, sources and the measurements. Few folders have pages.
  srcDir: root,
  srcExclude: [...foldersWithoutPages(), 'README.md', 'AGENTS.md', 'bench/*/**'],
  rewrites: pageOf,
  outDir: 'dist',
  cacheDir: '.cache',
  metaChunk: true,
  // Otherwise, visible pages are preloaded, which keeps phones busy.
  router: { prefetchLinks: false },
  markdown: {
    html: false,
    anchor: { slugify: idOf },
    theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
    config(markdown) {
      linkToPages(markdown)
      labelTables(markdown)
    },
  },
  vite: { publicDir: false, plugins: [serveLlmsTxt()] },
  buildEnd: ({ outDir }) => copyFiles(outDir),
  themeConfig,
})

function foldersWithoutPages(): string[] {
  const entries = readdirSync(root, { withFileTypes: true })
  const folders = entries.filter((entry) => entry.isDirectory()).map(({ name }) => name)
  return folders
    .filter((name) => !['docs', 'bench', 'site'].includes(name))
    .map((name) => `${name}/**`)
}

/** Returns the text of a page for the search index. Sources and generated pages would hide the pages that explain. */
function searchedText(text: string, env: MarkdownEnv, md: MarkdownRenderer): string {
  const html = md.render(text, env)
  return /^(site|source|reference\/api)\//.test(env.relativePath) ? '' : html
}
