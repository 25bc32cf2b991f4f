import { nodeBuiltin } from './node-builtin.ts'

const { existsSync } = nodeBuiltin('node:fs')
const { createRequire } = nodeBuiltin('node:module')
const { dirname, join } = nodeBuiltin('node:path')
const { fileURLToPath } = nodeBuiltin('node:url')

/**
 * The path of a file of byref's package, from the sources and from what was built of them alike. In a bundle it is the
 * file of the package that the working directory resolves; null where there is none.
 */
export function packageFile(path: string): string | null {
  for (const folder of folders()) {
    const file = join(folder, path)
    if (existsSync(file)) return file
  }
  return null
}

function* folders(): Generator<string> {
  const { url } = import.meta
  // Bundlers put other things here, or nothing.
  for (let at = url?.startsWith('file:') ? fileURLToPath(url) : ''; at !== dirname(at); ) {
    at = dirname(at)
    if (existsSync(join(at, 'package.json'))) {
      yield at
      break
    }
  }
  try {
    yield dirname(createRequire(join(process.cwd(), 'app.js')).resolve('byref/package.json'))
  } catch {
    // Not installed: all of it is in the bundle.
  }
}
