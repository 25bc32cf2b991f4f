// `npm run docs`: serves the documentation site on this machine, and updates it as its files change. `npm run
// build:docs` builds it into site/dist, and fails if a link is broken.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { ensureInstalled, node, root, run, say } from './setup.mjs'

const [task = 'serve'] = process.argv.slice(2)
const vitepress = join(root, 'node_modules/vitepress/bin/vitepress.js')
const flags = ['--disable-warning=ExperimentalWarning']

ensureInstalled()
if (task === 'build' || !existsSync(join(root, 'site/api'))) {
  say('── the reference of the types')
  run(node, [...flags, 'site/make-api.ts'])
}
if (task === 'build') {
  say('── the site')
  run(node, [vitepress, 'build', 'site'])
  say('── its links')
  run(node, [...flags, 'site/check-links.ts'])
} else {
  run(node, [vitepress, 'dev', 'site', '--host', '127.0.0.1'])
}
