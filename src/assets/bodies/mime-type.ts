import { ByrefError } from '../../core/errors.ts'
import type { AssetKind } from '../asset-store.ts'

/** A parsed MIME type: `type/subtype` in lower case, and its unchanged parameters. */
export interface MimeType {
  essence: string
  parameters: string
}

const TOKEN = "[A-Za-z0-9!#$&^_.+'*%`|~-]+"
const QUOTED = '"(?:[^"\\\\\\u0000-\\u001f\\u007f]|\\\\[^\\u0000-\\u001f\\u007f])*"'
const PARAMETER = `\\s*;\\s*(?:${TOKEN}=(?:${QUOTED}|${TOKEN}))?`
const MIME_TYPE = new RegExp(`^(${TOKEN}/${TOKEN})((?:${PARAMETER})*)$`)

/** Longer than any type in use. Rejects hostile input early. */
const MAX_LENGTH = 255

/** Aliases of types, with the name that byref uses instead. */
export const ALIASES: Record<string, string> = {
  'audio/mp3': 'audio/mpeg',
  'audio/x-mp3': 'audio/mpeg',
  'audio/wave': 'audio/wav',
  'audio/x-wav': 'audio/wav',
  'audio/vnd.wave': 'audio/wav',
  'audio/x-flac': 'audio/flac',
  'audio/x-aac': 'audio/aac',
  'audio/x-m4a': 'audio/mp4',
  'audio/m4a': 'audio/mp4',
  'video/vnd.avi': 'video/x-msvideo',
  'video/avi': 'video/x-msvideo',
  'video/matroska': 'video/x-matroska',
  'audio/matroska': 'audio/x-matroska',
  'image/jpg': 'image/jpeg',
  'image/x-ms-bmp': 'image/bmp',
  'image/x-icon': 'image/vnd.microsoft.icon',
  'application/x-gzip': 'application/gzip',
  'application/x-zip-compressed': 'application/zip',
  'text/json': 'application/json',
  'text/xml': 'application/xml',
  'application/jsonl': 'application/x-ndjson',
  'application/jsonlines': 'application/x-ndjson',
  'application/x-jsonlines': 'application/x-ndjson',
  'application/ndjson': 'application/x-ndjson',
}

/** Returns the type without its parameters, or null if it is not a MIME type. Never throws. */
export function parseMimeType(value: string): MimeType | null {
  if (value.length > MAX_LENGTH || /[\r\n]/.test(value)) return null
  const [, essence, rest = ''] = MIME_TYPE.exec(value.trim()) ?? []
  if (essence === undefined) return null
  const parameters = rest.trim().replace(/^;/, '').trim()
  return { essence: essence.toLowerCase(), parameters }
}

/**
 * Returns the type in byref's form: lower case, without aliases, parameters after `; `.
 *
 * @throws ByrefError `asset_invalid` if it is not a MIME type, for example because of CR or LF in it
 */
export function normalizeMimeType(value: string): string {
  const parsed = parseMimeType(value)
  if (!parsed) {
    const shown = JSON.stringify(value.slice(0, 80))
    throw new ByrefError('asset_invalid', `${shown} is not a MIME type; write it as type/subtype.`)
  }
  const essence = ALIASES[parsed.essence] ?? parsed.essence
  return parsed.parameters === '' ? essence : `${essence}; ${parsed.parameters}`
}

/** Returns the `type/subtype` of a type from {@link normalizeMimeType}. */
export function essenceOf(type: string): string {
  const semicolon = type.indexOf(';')
  return (semicolon < 0 ? type : type.slice(0, semicolon)).trim().toLowerCase()
}

/** Returns the kind that a person sees: `application/pdf` is a file, `image/svg+xml` an image. */
export function kindOf(type: string): AssetKind {
  const [top] = type.toLowerCase().split('/', 1)
  return top === 'image' || top === 'audio' || top === 'video' ? top : 'file'
}

/** Returns whether bodies of this type are one JSON value. */
export function isJsonType(type: string): boolean {
  const essence = essenceOf(type)
  return essence === 'application/json' || essence.endsWith('+json')
}

/** Returns whether the value of a body of this type is text rather than bytes. */
export function readsAsText(mime: string): boolean {
  const essence = essenceOf(mime)
  const isXml = essence.endsWith('+xml') && !essence.startsWith('image/')
  const isText = essence.startsWith('text/') || essence === 'application/x-ndjson'
  return isText || isXml || essence === 'application/xml'
}

const TEXT_TYPE =
  /^text\/|^application\/(json|xml|(x-)?yaml|x-ndjson|javascript|sql|toml|x-sh)$|\+(json|xml|yaml)$/

/** Whether models and clients get bodies of this type as text. The bytes must be text, too. */
export function isTextType(mime: string): boolean {
  return TEXT_TYPE.test(essenceOf(mime))
}

/** Top-level types whose bodies are rarely text. */
const BINARY = /^(application|audio|font|image|video)\//

/** Types of text under `application/`, and the types of bodies that may be anything. */
const TEXT_APPLICATION =
  /^(application|binary)\/(x-)?(octet-stream|(java|ecma|type)script|yaml|toml|sql|graphql|sparql-query|c?sh|perl|python|ruby|(httpd-)?php|tcl|tex|latex|texinfo|rtf|subrip|postscript|csv|n-triples|n-quads|trig|xml-dtd|mbox|pem-file|pgp-keys|pgp-signature|www-form-urlencoded)$/

/**
 * Returns whether a body may be text, if {@link readsAsText} is false for its type. Its bytes show whether it is text.
 */
export function mayBeText(mime: string): boolean {
  const essence = essenceOf(mime)
  if (/\+(xml|yaml)$/.test(essence)) return true
  return !BINARY.test(essence) || TEXT_APPLICATION.test(essence)
}

/** The formats of documents whose text byref reads. */
export type DocumentForm = 'pdf' | 'docx' | 'xlsx'

const OFFICE = 'application/vnd.openxmlformats-officedocument'

const DOCUMENT_FORMS: Readonly<Record<string, DocumentForm>> = {
  'application/pdf': 'pdf',
  [`${OFFICE}.wordprocessingml.document`]: 'docx',
  [`${OFFICE}.spreadsheetml.sheet`]: 'xlsx',
}

/** Returns the document format of this type, or null for any other type. */
export function documentForm(mime: string): DocumentForm | null {
  return DOCUMENT_FORMS[essenceOf(mime)] ?? null
}

/** The text formats of tables that byref reads. */
export type TextTableFormat = 'csv' | 'tsv' | 'json' | 'ndjson'

/** The formats of tables that byref reads. */
export type TableFormat = TextTableFormat | 'parquet' | 'arrow' | 'xlsx'

const ARROW_STREAM = 'application/vnd.apache.arrow.stream'

const TABLE_FORMATS: Readonly<Record<string, TableFormat>> = {
  'text/csv': 'csv',
  'text/tab-separated-values': 'tsv',
  'application/json': 'json',
  'application/x-ndjson': 'ndjson',
  'application/vnd.apache.parquet': 'parquet',
  'application/vnd.apache.arrow.file': 'arrow',
  [ARROW_STREAM]: 'arrow',
  [`${OFFICE}.spreadsheetml.sheet`]: 'xlsx',
}

/** Returns the table format of this type, or null for any other type. */
export function tableFormat(mime: string): TableFormat | null {
  return TABLE_FORMATS[essenceOf(mime)] ?? null
}

/** Returns whether this is the type of text whose format is unknown. */
export function isPlainText(mime: string): boolean {
  return essenceOf(mime) === 'text/plain'
}

/** Returns whether a file of this type may be a table: of a known format, or text whose format only its content shows. */
export function mayBeTable(mime: string): boolean {
  return tableFormat(mime) !== null || isPlainText(mime)
}

/** Returns the type of a table whose format can be seen only from its name. Null for any other file. */
export function typeByName(name: string): string | null {
  return /\.arrows$/i.test(name) ? ARROW_STREAM : null
}

/** Source code whose extension is registered for an unrelated type. */
const SOURCE_CODE = /\.([cm]?tsx?|rs)$/i

/** Returns the usual file extension, without a dot, or `bin` if there is none. */
export async function extensionOf(type: string): Promise<string> {
  const essence = essenceOf(type)
  if (essence === 'audio/mp4') return 'm4a'
  if (essence === 'application/x-ndjson') return 'ndjson'
  if (essence === 'image/vnd.microsoft.icon') return 'ico'
  return (await knownTypes()).getExtension(essence) ?? 'bin'
}

/** Returns the type that a file name suggests, or null. */
export async function mimeTypeOfName(name: string): Promise<string | null> {
  if (/\.(ndjson|jsonl)$/i.test(name)) return 'application/x-ndjson'
  if (SOURCE_CODE.test(name)) return 'text/plain'
  // Without a dot, the whole name would count as the extension.
  if (!name.includes('.')) return null
  const type = (await knownTypes()).getType(name)
  return type === null ? null : (ALIASES[type] ?? type)
}

let loaded: Promise<typeof import('mime')> | undefined

/** Loads the tables of types once. */
async function knownTypes() {
  loaded ??= import('mime')
  return (await loaded).default
}
