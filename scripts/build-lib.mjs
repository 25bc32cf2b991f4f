// Builds the package from `src`: declarations of each file, and JavaScript in few files, because most of the cost of
// an import is finding and opening files (docs/decisions/016-load-packages-at-first-use.md).
import { globSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { rolldown } from 'rolldown'
import { node, root, run } from './setup.mjs'

const dist = join(root, 'dist')
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
const exported = Object.values(manifest.exports).flatMap((target) => target['byref-source'] ?? [])
const entries = [...exported, './src/cli.ts'].map((file) => {
  return [file.slice('./src/'.length, -'.ts'.length), join(root, file)]
})

for (const file of globSync('**/*.{js,js.map,d.ts,d.ts.map}', { cwd: dist, exclude: ['web'] })) {
  rmSync(join(dist, file))
}
run(node, ['node_modules/typescript/bin/tsc', '-p', 'tsconfig.build.json'])

/**
 * Code that `byref/client` loads at once, which runs in browsers, and code that `import 'byref'` loads in addition:
 * one file each.
 */
const neutral = new Set()
const core = new Set()
const findChunks = {
  name: 'find-chunks',
  buildEnd() {
    const add = (found, id) => {
      if (found.has(id)) return
      found.add(id)
      for (const imported of this.getModuleInfo(id)?.importedIds ?? []) add(found, imported)
    }
    add(neutral, join(root, 'src/client/index.ts'))
    add(core, join(root, 'src/index.ts'))
  },
}
/** The form of the bundles. */
const FORM = {
  format: 'esm',
  entryFileNames: '[name].js',
  sourcemap: true,
  // With characters beyond Latin-1, the whole text takes twice the memory.
  charset: 'ascii',
  // Bundlers read the annotations: `webpackIgnore`, `@__NO_SIDE_EFFECTS__`.
  comments: { annotation: true, jsdoc: false, legal: false },
}
const bundle = await rolldown({
  cwd: root,
  input: Object.fromEntries(entries),
  external: (id) => !/^[./]/.test(id),
  platform: 'node',
  plugins: [findChunks],
})
await bundle.write({
  dir: dist,
  ...FORM,
  chunkFileNames: 'chunks/[name]-[hash].js',
  codeSplitting: {
    groups: [
      { name: 'neutral', test: (id) => neutral.has(id), priority: 2 },
      { name: 'core', test: (id) => core.has(id), priority: 1 },
    ],
  },
})
await bundle.close()

// The program of table processes is separate: a query waits for its start, and it needs little of the rest.
const child = await rolldown({
  cwd: root,
  input: { 'table-child': join(root, 'src/assets/tables/table-child.ts') },
  external: (id) => !/^[./]/.test(id),
  platform: 'node',
})
await child.write({
  dir: join(dist, 'assets/tables'),
  ...FORM,
  chunkFileNames: 'table-child/[name]-[hash].js',
})
await child.close()
