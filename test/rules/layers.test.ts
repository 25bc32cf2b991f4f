import { existsSync, globSync, readFileSync } from 'node:fs'
import { builtinModules } from 'node:module'
import { dirname, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** What each folder of src, `demo` and `eval` may import in addition to itself and `core`. AGENTS.md explains it. */
const ALLOWED: Record<string, readonly string[]> = {
  core: [],
  sqlite: [],
  postgres: [],
  wire: [],
  assets: ['sqlite', 'postgres'],
  log: ['sqlite', 'postgres'],
  models: ['log'],
  prompt: ['assets', 'models'],
  boundary: ['assets', 'log', 'models', 'prompt'],
  plugins: ['boundary'],
  policies: ['assets', 'log', 'models', 'prompt', 'boundary'],
  engine: ['assets', 'log', 'models', 'prompt', 'boundary', 'plugins', 'policies'],
  agent: ['assets', 'log', 'models', 'prompt', 'boundary', 'plugins', 'policies', 'engine'],
  hosts: ['log', 'agent', 'postgres'],
  integrations: ['assets', 'log', 'models', 'prompt', 'boundary', 'policies', 'engine', 'agent'],
  server: ['assets', 'log', 'models', 'boundary', 'engine', 'agent', 'wire'],
  client: ['wire'],
  testing: ['assets', 'log', 'models', 'boundary'],
  cli: [
    'assets',
    'log',
    'models',
    'boundary',
    'policies',
    'engine',
    'agent',
    'server',
    'hosts',
    'integrations',
    'wire',
    'demo',
    'eval',
    'testing',
  ],
  eval: ['assets', 'log', 'models', 'boundary', 'engine', 'agent', 'testing'],
  demo: ['assets', 'models', 'boundary', 'agent'],
}

/** Folders that run in a browser: no Node, no packages. */
const NEUTRAL = ['core', 'client']

/** Files that every folder may import, and files that only folders with Node or with packages may import. */
const SHARED = /^src\/(core\/.*|version\.ts)$/
const LOADING = /^src\/(node-builtin|optional-peer|package-file)\.ts$/

/** Optional peers that the entry with their name imports statically, because nothing in it works without them. */
const STATIC_PEERS = ['@ag-ui/core', '@langchain/core', '@opentelemetry/api', 'ai', 'langchain']

interface Import {
  file: string
  specifier: string
}

function importsOf(pattern: string): Import[] {
  return globSync(pattern, { cwd: root })
    .filter((file) => !/\.test(-d)?\.tsx?$|fixtures|node_modules/.test(file))
    .flatMap((file) => {
      const text = readFileSync(resolve(root, file), 'utf8')
      const found = text.matchAll(
        /^(?:import|export)\s[^'"`]*?from '([^']+)'|^import '([^']+)'|\bimport\(\s*'([^']+)'/gm,
      )
      return [...found].map((match) => ({
        file,
        specifier: match[1] ?? match[2] ?? match[3] ?? '',
      }))
    })
}

/** Folders next to `src`. */
const BESIDE = ['demo', 'eval']

const folderOf = (file: string): string => {
  const [first = '', second = ''] = file.split('/')
  return BESIDE.includes(first) ? first : second
}

const source = importsOf(`{src,${BESIDE.join(',')}}/**/*.ts`)

/** Returns `@scope/name` for `@scope/name/path`. */
const packageOf = (specifier: string): string =>
  specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/')

describe('imports', () => {
  it('are found by this test', () => {
    expect(source.length).toBeGreaterThan(100)
    expect(Object.keys(ALLOWED).sort()).toEqual(
      [
        ...BESIDE,
        ...globSync('src/*/', { cwd: root }).map((folder) => folder.split('/')[1]),
      ].sort(),
    )
  })

  it.each(Object.keys(ALLOWED))('of %s stay in their layer', (folder) => {
    const wrong = source
      .filter(({ file, specifier }) => folderOf(file) === folder && specifier.startsWith('.'))
      .map(({ file, specifier }) => ({
        file,
        to: relative(root, resolve(root, dirname(file), specifier)),
      }))
      .filter(({ to }) => {
        const target = folderOf(to)
        const isNeutral = NEUTRAL.includes(folder)
        const own = target === folder || SHARED.test(to) || (LOADING.test(to) && !isNeutral)
        return !own && !ALLOWED[folder]?.includes(target)
      })
    expect(wrong).toEqual([])
  })

  it('have no cycles, not even of types', () => {
    const imports = new Map<string, string[]>()
    for (const { file, specifier } of source) {
      if (!specifier.startsWith('.')) continue
      const to = relative(root, resolve(root, dirname(file), specifier))
      imports.set(file, [...(imports.get(file) ?? []), to])
    }
    const isEnd = new Set<string>()
    for (let left = [...imports.keys()], before = -1; left.length !== before; ) {
      before = left.length
      left = left.filter((file) =>
        imports.get(file)?.some((to) => imports.has(to) && !isEnd.has(to)),
      )
      for (const file of imports.keys()) if (!left.includes(file)) isEnd.add(file)
    }
    expect([...imports.keys()].filter((file) => !isEnd.has(file))).toEqual([])
  })

  it.each(NEUTRAL)('of src/%s include neither Node nor packages', (folder) => {
    const wrong = source.filter(
      ({ file, specifier }) => folderOf(file) === folder && !specifier.startsWith('.'),
    )
    expect(wrong).toEqual([])
  })

  it('of the workbench include only client and core', () => {
    const wrong = importsOf('{web,packages/react}/src/**/*.{ts,tsx}').filter(({ specifier }) =>
      /src\/(?!client|core)\w+|^node:|^byref\/(?!client)/.test(specifier),
    )
    expect(wrong).toEqual([])
  })

  it('of builtin modules use their node: names', () => {
    expect(
      source.filter(
        ({ specifier }) => !specifier.startsWith('node:') && builtinModules.includes(specifier),
      ),
    ).toEqual([])
  })
})

describe('create-byref', () => {
  const imports = importsOf('packages/create-byref/{bin,src}/*.mjs')
  const own = resolve(root, 'packages/create-byref')

  it('imports nothing from byref, which is another package', () => {
    const outside = imports.filter(
      ({ file, specifier }) =>
        specifier.startsWith('.') && !resolve(root, dirname(file), specifier).startsWith(own),
    )
    expect(outside).toEqual([])
  })

  it('depends on exactly what it imports', () => {
    const manifest = JSON.parse(readFileSync(resolve(own, 'package.json'), 'utf8'))
    const needed = imports
      .map(({ specifier }) => specifier)
      .filter((specifier) => !/^(\.|node:)/.test(specifier))
      .map(packageOf)
    expect(Object.keys(manifest.dependencies)).toEqual([...new Set(needed)].sort())
  })
})

describe('the package', () => {
  const manifest = JSON.parse(readFileSync(resolve(root, 'package.json'), 'utf8'))

  it.each(Object.entries<Record<string, string> | string>(manifest.exports))(
    'exports %s from an existing file',
    (_, target) => {
      if (typeof target === 'string') return expect(existsSync(resolve(root, target))).toBe(true)
      const { 'byref-source': file = '', types = '', default: built = '' } = target
      expect(existsSync(resolve(root, file)), file).toBe(true)
      expect(types).toBe(file.replace('./src', './dist').replace('.ts', '.d.ts'))
      expect(built).toBe(file.replace('./src', './dist').replace('.ts', '.js'))
    },
  )

  it('depends on exactly what it imports', () => {
    const needed = new Set(
      source
        .map(({ specifier }) => specifier.replace(/^#/, ''))
        .filter((specifier) => !/^(\.|node:)/.test(specifier))
        .map(packageOf),
    )
    const declared = [
      ...Object.keys(manifest.dependencies),
      ...Object.keys(manifest.optionalDependencies),
      ...Object.keys(manifest.peerDependencies),
    ]
    // The fonts are files that are resolved, not imported. Types are imported through other packages.
    expect(
      declared.filter((name) => name !== 'dejavu-fonts-ttf' && !name.startsWith('@types/')).sort(),
    ).toEqual([...needed].sort())
  })

  it('loads optional peers only through optionalPeer, so that bundlers leave them out', () => {
    const optional = Object.keys(manifest.peerDependencies).filter(
      (name) => manifest.peerDependenciesMeta[name]?.optional,
    )
    const direct = [...globSync('src/**/*.ts', { cwd: root })]
      .filter((file) => !/\.test\.ts$|fixtures/.test(file))
      .flatMap((file) => {
        const text = readFileSync(resolve(root, file), 'utf8')
        const found = text.matchAll(
          /^import (?!type )[^'`]*?from '([^']+)'|await import\(\s*'([^']+)'/gm,
        )
        return [...found].map((match) => packageOf(match[1] ?? match[2] ?? ''))
      })
    const imported = optional.filter((name) => direct.includes(name))
    expect(imported.sort()).toEqual(STATIC_PEERS)
  })

  it('lists every export of an entry explicitly', () => {
    for (const file of globSync('src/{index,*/index,integrations/*/index}.ts', { cwd: root })) {
      expect(readFileSync(resolve(root, file), 'utf8'), file).not.toMatch(/export \*/)
    }
  })
})
