// Writes a page for each public entry of package.json into site/api, from its types and docstrings.
import { globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Application } from 'typedoc'
import type { PluginOptions } from 'typedoc-plugin-markdown'
import { idOf, root } from './.vitepress/pages.ts'

/** One file for each entry, whose name becomes the name of its page. */
const entries = join(root, 'site/.cache/entries')
rmSync(entries, { recursive: true, force: true })
mkdirSync(entries, { recursive: true })
const { exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
for (const [name, entry] of Object.entries<{ 'byref-source'?: string }>(exports)) {
  const source = entry['byref-source']
  if (!source) continue
  const file = name === '.' ? 'byref' : name.slice('./'.length)
  const target = JSON.stringify(join('../../..', source))
  writeFileSync(join(entries, `${file}.ts`), `/** @module ${file} */\nexport * from ${target}\n`)
}

const markdown: Partial<PluginOptions> = {
  outputFileStrategy: 'modules',
  fileExtension: '.md',
  hidePageHeader: true,
  hideBreadcrumbs: true,
  useCodeBlocks: false,
  parametersFormat: 'table',
  interfacePropertiesFormat: 'list',
  typeDeclarationFormat: 'list',
  formatWithPrettier: false,
}
const out = join(root, 'site/api')
const app = await Application.bootstrapWithPlugins({
  name: 'API',
  entryPoints: [join(entries, '*.ts')],
  tsconfig: join(root, 'site/tsconfig.api.json'),
  plugin: ['typedoc-plugin-markdown'],
  out,
  readme: 'none',
  disableSources: true,
  excludeExternals: true,
  excludeInternal: true,
  hideGenerator: true,
  skipErrorChecking: true,
  // Types that no entry exports, such as options of methods, are shown only by name.
  validation: { notExported: false, invalidLink: false, notDocumented: false },
  logLevel: 'Warn',
  ...(markdown as object),
})
const project = await app.convert()
if (!project) throw new Error('TypeDoc cannot read the sources')
await app.generateOutputs(project)
const pages = new Map(
  globSync('*.md', { cwd: out }).map((file) => [file, readFileSync(join(out, file), 'utf8')]),
)
for (const [file, text] of pages) {
  const titled = text
    .replace(/^# (?!byref|API)(.*)$/m, '# byref/$1')
    // The site shows HTML as text, and nothing links to these anchors.
    .replace(/<a id="[^"]*"><\/a> ?/g, '')
  // TypeDoc treats names that differ only in case as equal.
  const linked = titled.replace(/\]\((.*?)#(.+?)-\d+\)/g, (link, page: string, id: string) => {
    const headings = (pages.get(page || file) ?? '').matchAll(/^#+ (.*)/gm)
    const same = [...headings].filter(([, heading = '']) => idOf(heading) === id)
    return same.length === 1 ? `](${page}#${id})` : link
  })
  writeFileSync(join(out, file), linked)
}
process.exitCode = app.logger.hasErrors() ? 1 : 0
