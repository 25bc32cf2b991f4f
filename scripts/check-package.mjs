// Checks the package as users get it: packed, and installed in an empty project. Runs its README code, checks its
// types, and starts its command. Needs the npm registry for the dependencies.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { checkContainer } from './check-container.mjs'
import { checkRuntimes } from './check-runtimes.mjs'
import { ensureInstalled, environment, node, outputOf, QUIET, root, run, say } from './setup.mjs'

const NEWEST_NODE = '26'

/** The entries that need no optional package when they are loaded. */
const SERVED = ['.', './server', './stores', './sqlite', './openai', './mcp', './testing']

/** The banner that the documentation gives for esbuild, for dependencies that are CommonJS packages. */
const [, BANNER] = /--banner:js="(.+)"/.exec(
  readFileSync(join(root, 'docs/integrations/bundlers.md'), 'utf8'),
)

ensureInstalled()
const folder = mkdtempSync(join(tmpdir(), 'byref-package-'))
try {
  say('── dead code and unused dependencies')
  run(node, ['node_modules/knip/bin/knip.js', '--no-progress'])

  say('── pack')
  const packed = outputOf('npm', ['pack', '--json', '--pack-destination', folder], { cwd: root })
  const [{ filename, size, files }] = JSON.parse(packed.slice(packed.indexOf('[\n')))
  say(`${filename}: ${Math.round(size / 1024)} kB, ${files.length} files`)
  const leaked = files.filter(({ path }) => /\.test\.|fixtures|\.sqlite|node_modules/.test(path))
  if (leaked.length > 0) throw new Error(`The package holds ${leaked[0].path}`)
  const tarball = join(folder, filename)
  run(node, ['node_modules/publint/src/cli.js', tarball, '--strict'])
  run(node, ['node_modules/@arethetypeswrong/cli/dist/index.js', tarball, '--profile', 'esm-only'])

  say('── install in an empty project')
  const project = join(folder, 'project')
  mkdirSync(project)
  writeFileSync(
    join(project, 'package.json'),
    '{ "name": "project", "private": true, "type": "module" }',
  )
  run('npm', ['install', ...QUIET, tarball], { cwd: project })

  say('── the README code, run and type-checked')
  writeFileSync(join(project, 'readme.ts'), readmeCode())
  const output = outputOf(node, ['readme.ts'], { cwd: project })
  say(output.trim())
  if (!/asset:\/\//.test(output)) throw new Error('The README code printed no reference')
  writeFileSync(
    join(project, 'tsconfig.json'),
    JSON.stringify({
      compilerOptions: {
        target: 'ES2024',
        module: 'NodeNext',
        strict: true,
        exactOptionalPropertyTypes: true,
        noEmit: true,
        types: [],
        // Our own declarations, and those that they import, must be complete by themselves.
        skipLibCheck: false,
      },
      files: ['readme.ts'],
    }),
  )
  run(node, [join(root, 'node_modules/typescript/bin/tsc'), '-p', project])

  say('── SQLite, in the oldest Node that the package supports and in the newest')
  const { engines } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const oldest = installNode(`${/\d+\.\d+/.exec(engines.node)[0]}.0`)
  for (const one of [oldest, installNode(NEWEST_NODE)]) {
    const tests = ['run', '--project', 'unit', 'src/log/sqlite-log.test.ts']
    run(one, ['node_modules/vitest/vitest.mjs', ...tests])
  }

  say('── the code of the documentation, in the oldest Node')
  run(
    oldest,
    ['node_modules/vitest/vitest.mjs', 'run', '--project', 'unit', 'test/rules/readme.test.ts'],
    {
      env: { ...environment(), BYREF_PACKAGE: join(project, 'node_modules/byref') },
    },
  )

  say('── every entry by require, in the oldest Node')
  const required = `console.log(${JSON.stringify(SERVED)}.map((name) => Object.keys(require('byref' + name.slice(1))).length).join(' '))`
  say(outputOf(oldest, ['--input-type=commonjs', '--eval', required], { cwd: project }).trim())

  say('── the client in a browser')
  // Known only once everything is installed.
  const { build } = await import('esbuild')
  const entry = join(project, 'node_modules/byref/dist/client/index.js')
  // Fails for any import of Node or of packages.
  const { metafile } = await build({
    entryPoints: [entry],
    bundle: true,
    platform: 'browser',
    format: 'esm',
    write: false,
    minify: true,
    metafile: true,
  })
  const [{ bytes }] = Object.values(metafile.outputs)
  say(`${Math.round(bytes / 1024)} kB`)

  say('── every entry in a bundle for Node, without its optional packages')
  const { exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  for (const [format, extension] of Object.entries({ esm: 'mjs', cjs: 'cjs' })) {
    const bundle = join(project, 'bundle', `all.${extension}`)
    const wanted = SERVED.filter((name) => exports[name])
    const contents = wanted.map((name, i) => {
      return `export * as entry${i} from ${JSON.stringify(`byref${name.slice(1)}`)}`
    })
    await build({
      bundle: true,
      platform: 'node',
      format,
      outfile: bundle,
      logLevel: 'error',
      stdin: { contents: contents.join('\n'), resolveDir: project },
      banner: { js: format === 'esm' ? BANNER : '' },
    })
    const code = `const all = await import(${JSON.stringify(bundle)}); console.log(Object.keys(all).length)`
    const count = outputOf(node, ['--input-type=module', '--eval', code], { cwd: folder })
    say(`${format}: ${count.trim()} entries`)
  }

  say('── the command')
  const bin = join(project, 'node_modules', '.bin', 'byref')
  say(outputOf(node, [bin, '--version'], { cwd: project }).trim())
  const csv = 'day,rain\n2026-01-01,1\n2026-01-02,3\n2026-02-01,2\n'
  writeFileSync(join(project, 'rain.csv'), csv)
  const question = ['run', 'chart the monthly rain', '--file', 'rain.csv', '--out', 'rain.png']
  say(outputOf(node, [bin, ...question], { cwd: project }).trim())
  if (readFileSync(join(project, 'rain.png')).subarray(1, 4).toString() !== 'PNG') {
    throw new Error('byref run saved no PNG')
  }

  say('── @byref/react in apps')
  run(node, ['scripts/check-react.mjs', tarball, folder])

  say('── create-byref and its templates')
  run(node, ['scripts/check-create.mjs', tarball, folder])

  say('── other runtimes')
  checkRuntimes({ tarball, folder })

  say('── the steps of the Dockerfile')
  await checkContainer({ tarball, folder })
} finally {
  rmSync(folder, { recursive: true, force: true })
}

/** Installs a version of Node, and returns its path. */
function installNode(version) {
  const cwd = join(folder, `node-${version}`)
  mkdirSync(cwd)
  writeFileSync(join(cwd, 'package.json'), '{ "private": true, "allowScripts": { "node": true } }')
  run('npm', ['install', ...QUIET, `node@${version}`], { cwd })
  const installed = join(cwd, 'node_modules/node/bin/node')
  say(outputOf(installed, ['--version'], { cwd }).trim())
  return installed
}

/** Returns the first TypeScript block of the README. */
function readmeCode() {
  const code = /```ts\n([\s\S]*?)```/.exec(readFileSync(join(root, 'README.md'), 'utf8'))?.[1]
  if (!code) throw new Error('README.md has no ```ts block')
  return code
}
