import { ALIASES, essenceOf } from './mime-type.ts'

/** Source code whose extension is registered for something that nobody means by it. */
const SOURCE_CODE = /\.([cm]?tsx?|rs)$/i

/** The usual file extension, without a dot; `bin` where there is none. */
export async function extensionOf(type: string): Promise<string> {
  const essence = essenceOf(type)
  if (essence === 'audio/mp4') return 'm4a'
  if (essence === 'application/x-ndjson') return 'ndjson'
  if (essence === 'image/vnd.microsoft.icon') return 'ico'
  return (await knownTypes()).getExtension(essence) ?? 'bin'
}

/** The type that a file's name suggests, or null. */
export async function mimeTypeOfName(name: string): Promise<string | null> {
  if (/\.(ndjson|jsonl)$/i.test(name)) return 'application/x-ndjson'
  if (SOURCE_CODE.test(name)) return 'text/plain'
  // Without a dot the whole name would count as extension.
  if (!name.includes('.')) return null
  const type = (await knownTypes()).getType(name)
  return type === null ? null : (ALIASES[type] ?? type)
}

let loaded: Promise<typeof import('mime')> | undefined

/** The tables of types, once. */
async function knownTypes() {
  loaded ??= import('mime')
  return (await loaded).default
}
