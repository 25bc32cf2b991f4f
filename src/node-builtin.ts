import { ByrefError } from './core/errors.ts'

/** As in `engines` of package.json. */
const OLDEST = [22, 18] as const

/**
 * A module of Node, without an import: bundlers for other platforms have nothing to resolve. Where there is no Node, what
 * is taken from it throws when it is called, so that code that needs none of it runs anywhere.
 *
 * @throws ByrefError `dependency_missing` for a Node that is too old, which is when byref is imported
 */
/* @__NO_SIDE_EFFECTS__ */
export const nodeBuiltin: typeof process.getBuiltinModule = (name: string) => {
  const { process } = globalThis
  const version = process?.versions?.node
  if (version !== undefined && isOld(version)) {
    const message = `byref needs Node.js ${OLDEST.join('.')} or newer; this is Node.js ${version}`
    throw new ByrefError('dependency_missing', message)
  }
  return process?.getBuiltinModule?.(name) ?? absent(name)
}

function isOld(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  return major < OLDEST[0] || (major === OLDEST[0] && minor < OLDEST[1])
}

/** A module whose exports are functions and classes that throw. */
function absent(name: string): object {
  return new Proxy(
    {},
    {
      get: (_, key) =>
        function missing(): never {
          const message = `This needs ${String(key)} of ${name}, which this runtime does not have: run it in Node.js`
          throw new ByrefError('dependency_missing', message)
        },
    },
  )
}
