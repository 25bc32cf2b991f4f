import { defined } from '../../core/defined.ts'
import { ByrefError } from '../../core/errors.ts'
import { shortened } from '../../core/json/cut.ts'
import type { FieldKey } from '../../core/refs/field-path.ts'
import type { AssetPlace } from '../asset-locator.ts'
import { assetNotFound, versionAfter } from '../asset-record.ts'
import type { AssetInfo, AssetRecord } from '../asset-store.ts'
import type { AssetWriter } from '../asset-writer.ts'
import type { EditedAsset, QueryOptions, SaveAssetOptions, TableQuery } from '../assets-contract.ts'
import { type AssetsCore, infoOf } from '../assets-core.ts'
import { isJsonType } from '../bodies/mime-type.ts'
import { headEncoding } from '../bodies/text-encoding.ts'
import { type BodyRanges, bodyRanges, rangesOf } from '../content-access.ts'
import { unescaped } from '../json/json-walker.ts'
import type { Importer } from '../tables/import-file.ts'
import type { QueryResult } from '../tables/query-tables.ts'
import { tableFacts } from '../tables/table-facts.ts'
import { Draft, IN_MEMORY } from './draft.ts'
import { checkEdits, type Edit, isJsonEdit } from './edit.ts'
import { editJson } from './json-edits.ts'
import { findPlace } from './json-place.ts'
import { rawOffsets } from './json-text.ts'
import { LineIndex } from './line-numbers.ts'
import { textDiff } from './text-diff.ts'
import { editText, type TextEdit } from './text-edits.ts'
import { TextForm } from './text-form.ts'

/** Bodies up to this size are read at once, also for a single edit. JSON of this size must stay valid. */
const SMALL = 8 * 1024 * 1024

/**
 * Maximum number of bytes that the edits of one call read, which takes one or two minutes. Each edit reads the whole
 * body, because it changes what the next one finds. Text is searched faster than JSON.
 */
const MAX_READ = { text: 64 * 1024 ** 3, json: 4 * 1024 ** 3 }

/** Maximum number of rows that an edit may add to a table. */
const MORE_ROWS = 100_000

/** Time limit of a statement, and how much each row adds to it, in milliseconds. */
const TABLE_MS = 30_000
const ROW_MS = 0.1

/** Maximum length of the paths in the result, in characters. */
const MAX_PATHS = 2000

/** The sources of an edit. */
export interface EditSources {
  core: AssetsCore
  writer: AssetWriter
  importer: Pick<Importer, 'tableOf'>
  /** Queries tables without saving the result, whose file the caller removes. */
  runQuery(query: TableQuery, options: QueryOptions): Promise<QueryResult>
}

/** The edits of one call, and what they edit. */
export interface EditCall {
  place: AssetPlace
  edits: readonly Edit[]
  dryRun: boolean
  options: SaveAssetOptions
}

/** The edited asset, and how to save its next version, unless this is a dry run. */
interface Editing extends EditSources {
  record: AssetRecord
  saving: SaveAssetOptions
  dryRun: boolean
}

/** Applies edits, and saves a new version unless this is a dry run. */
export async function editAsset(
  sources: EditSources,
  { place, edits, dryRun, options }: EditCall,
): Promise<EditedAsset> {
  checkEdits(edits)
  const { store, locator } = sources.core
  const { assetId, namespace, fieldPath = [] } = place
  const record = await store.info(assetId, { namespace })
  if (!record) throw assetNotFound(assetId)
  if (fieldPath.length > 0 && fieldPath[0] !== 'content') {
    throw unsupported('Only the content of an asset can be edited')
  }
  const previous = locator.refOf(assetId, namespace, place.fieldPath)
  const saving = { expiresAt: record.expiresAt, ...defined(options) }
  const editing = { ...sources, record, saving, dryRun }
  const sql = sqlOf(edits)
  const edited =
    sql === null
      ? await editBody(editing, edits, fieldPath)
      : await editTable(editing, sql, previous)
  const ref = locator.refOf(edited.asset.assetId, namespace, place.fieldPath)
  return { ...edited, ref, previous }
}

type Edited = Pick<EditedAsset, 'asset' | 'changes' | 'diff'>

/** Returns the statement of an edit of a table; null for other edits. */
function sqlOf(edits: readonly Edit[]): string | null {
  const [sql, ...others] = edits.flatMap((edit) => ('sql' in edit ? [edit.sql] : []))
  if (sql === undefined) return null
  if (others.length > 0 || edits.length > 1)
    throw invalid('A table takes exactly one edit: { sql }.')
  return sql
}

/** Replaces the rows of a table, which `table` refers to, by those of a statement. */
async function editTable(
  { core, writer, importer, runQuery, record, saving, dryRun }: Editing,
  sql: string,
  table: string,
): Promise<Edited> {
  const facts = tableFacts(record)
  if (!facts) {
    const found = await importer.tableOf(table, saving)
    throw unsupported(
      `The asset is ${found.table === null ? found.problem : `a file: edit its table ${found.table}`}`,
    )
  }
  const most = facts.rows + MORE_ROWS
  const limits = { rows: most, timeoutMs: Math.ceil(TABLE_MS + most * ROW_MS) }
  const result = await runQuery({ sql, tables: { rows: table } }, { ...saving, ...limits })
  const { rows, columns, body } = result.table
  const changes = { changes: rows, diff: `${rows} rows, ${columns.length} columns` }
  if (dryRun) {
    await body.dispose()
    return { asset: infoOf(record, core.locator), ...changes }
  }
  const { name, attributes } = record
  const { description, references = [] } = attributes
  // The version does not need the table, because it has all its rows. But its cells may name assets that the table
  // refers to.
  const sources = result.sources.filter((id) => id !== record.assetId)
  const about = { name, description, source: null, ...versionAfter(record) }
  const { saveTable } = await import('../tables/save-table.ts')
  const asset = await saveTable(writer, result.table, {
    ...saving,
    ...about,
    references: [...new Set([...references, ...sources])],
  })
  return { asset, ...changes }
}

/**
 * Edits a text or JSON, or the field at a path in JSON.
 *
 * @param fieldPath The path of the reference, which begins with `content`; empty if it has none.
 */
async function editBody(
  editing: Editing,
  edits: readonly Edit[],
  fieldPath: readonly FieldKey[],
): Promise<Edited> {
  const { core, record, saving, dryRun } = editing
  if (tableFacts(record)) {
    throw unsupported('The asset is a table: edit it with one { sql } over the table rows')
  }
  if (record.attributes.marked) {
    throw unsupported(
      'The asset has values that JSON cannot express, such as bytes, dates or NaN: save a new asset instead',
    )
  }
  const { signal } = saving
  const isJson = edits.every(isJsonEdit)
  const original = await originalOf(await bodyRanges(record, core.store, signal), edits.length)
  const draft = new Draft(original, { signal, budget: MAX_READ[isJson ? 'json' : 'text'] })
  const steps = fieldPath.slice(1).map(String)
  const isInJson = steps.length > 0 || (fieldPath.length > 0 && (await isJsonText(draft, record)))
  const changes =
    isInJson || isJson
      ? await editInJson(draft, edits, steps)
      : await editWhole(draft, textEditsOf(edits), { original, record })
  const asset = dryRun ? infoOf(record, core.locator) : await saveEdited(editing, draft)
  return { asset, ...changes }
}

/** What edits changed in a draft. */
type Changes = Omit<Edited, 'asset'>

/** Edits a whole text. JSON must stay JSON. */
async function editWhole(
  draft: Draft,
  edits: readonly TextEdit[],
  { original, record }: { original: BodyRanges; record: AssetRecord },
): Promise<Changes> {
  if (!(await isText(draft, record))) {
    throw unsupported(
      `The asset is ${record.mime}, which cannot be edited: only text, JSON and tables can`,
    )
  }
  const staysJson = await mustStayJson(draft, record)
  const hint = (): Promise<string> => jsonHint(draft, record)
  const changes = await editAndDiff(draft, edits, { original, hint })
  if (staysJson) await checkJson(draft)
  return changes
}

/** Edits a text, and returns how its lines differ from the original. */
async function editAndDiff(
  draft: Draft,
  edits: readonly TextEdit[],
  { original, hint }: { original: BodyRanges; hint?(): Promise<string> },
): Promise<Changes> {
  const lines = new LineIndex()
  const changes = await editText(draft, edits, { lines, hint })
  const form = await TextForm.of(draft)
  return { changes, diff: await textDiff(original, draft.changes(), { form, lines }) }
}

/**
 * Applies edits to a value: operations of JSON Patch, or edits of a text. The value does not change.
 *
 * @throws ByrefError `edit_rejected`, `invalid_arguments`, `asset_unsupported`
 */
export async function editValue(
  value: unknown,
  edits: readonly Edit[],
): Promise<Changes & { value: unknown }> {
  checkEdits(edits)
  if (sqlOf(edits) !== null) throw unsupported('The value is not a table')
  const draft = new Draft(rangesOf(Buffer.from(JSON.stringify(value))))
  const changes = await editInJson(draft, edits, [])
  return { value: await parsed(draft), ...changes }
}

/** Applies operations of JSON Patch, or edits of the text at a path in JSON. */
async function editInJson(
  draft: Draft,
  edits: readonly Edit[],
  steps: readonly string[],
): Promise<Changes> {
  if (!edits.every(isJsonEdit)) return editField(draft, textEditsOf(edits), steps)
  const paths = await editJson(draft, edits, steps)
  const shown = paths.map((path) => path || '(the whole document)').join('\n')
  return { changes: paths.length, diff: shortened(shown, MAX_PATHS) }
}

function textEditsOf(edits: readonly Edit[]): readonly TextEdit[] {
  if (!edits.some(isJsonEdit)) return edits as readonly TextEdit[]
  throw invalid('One call cannot mix edits of text and operations on JSON: send two calls.')
}

/** Bytes that are read to find a second line. */
const HEAD = 64 * 1024

/** Returns advice for JSON on one line, which `fetch_asset` shows with a line for each value. Empty for other texts. */
async function jsonHint(draft: Draft, { mime, attributes }: AssetRecord): Promise<string> {
  if (!attributes.structured && !isJsonType(mime)) return ''
  if ((await draft.text(0, HEAD)).trim().includes('\n')) return ''
  return ' This JSON is on one line: change it with { op, path, value }.'
}

/** Whether an asset must still be valid JSON after an edit. A file that is not valid now may be edited freely. */
async function mustStayJson(draft: Draft, { mime, attributes }: AssetRecord): Promise<boolean> {
  if (attributes.structured) return true
  if (!isJsonType(mime) || draft.size > SMALL) return false
  return parsed(draft).then(
    () => true,
    () => false,
  )
}

/** @throws ByrefError `edit_rejected` for text that is no longer JSON */
async function checkJson(draft: Draft): Promise<void> {
  try {
    await parsed(draft)
  } catch (cause) {
    throw new ByrefError(
      'edit_rejected',
      'After these edits the content is not JSON. Nothing was changed. Use JSON Patch operations { op, path, value }',
      { cause },
    )
  }
}

async function parsed(draft: Draft): Promise<unknown> {
  return JSON.parse(await draft.text())
}

/** Saves an edited draft as a new version of the asset. */
async function saveEdited(editing: Editing, draft: Draft): Promise<AssetInfo> {
  const { core, writer, record, saving } = editing
  const { name, mime, attributes } = record
  const { asset_type, description, content_type } = attributes
  const version = { ...saving, ...versionAfter(record) }
  if (!attributes.structured) {
    const about = { type: mime, name, description, assetType: asset_type }
    return writer.saveFile(draft.stream(), { ...version, ...about })
  }
  const { valueBytes } = core.config.limits
  if (draft.size > valueBytes) {
    throw new ByrefError(
      'asset_too_large',
      `The edited value has ${draft.size} bytes of JSON, more than limits.valueBytes (${valueBytes}).`,
    )
  }
  const content = await parsed(draft)
  const about = defined({ asset_type, description, asset_name: name ?? undefined })
  return writer.saveAsset({ ...about, content_type: content_type ?? mime, content }, version)
}

/** Edits a text inside JSON. Only the changed characters are written again. */
async function editField(
  draft: Draft,
  edits: readonly TextEdit[],
  steps: readonly string[],
): Promise<Changes> {
  const name = steps.length > 0 ? `The value at /${steps.join('/')}` : 'The value'
  const place = await findPlace(draft, steps)
  if (!place?.value) throw new ByrefError('field_not_found', `${name} does not exist.`)
  const { start, end } = place.value
  const raw = await draft.text(start, end)
  if (!raw.startsWith('"')) {
    throw unsupported(`${name} is not text: edit it with JSON operations`)
  }
  const inside = raw.slice(1, -1)
  const original = rangesOf(Buffer.from(unescaped(inside)))
  const text = new Draft(original)
  const changes = await editAndDiff(text, edits, { original })
  const changed = text.changes()
  const places = changed.flatMap((change) => [change.start, change.end])
  const offsets = rawOffsets(inside, places).map((offset) => start + 1 + offset)
  draft.splice(
    changed.map(({ bytes }, i) => ({
      start: offsets[2 * i] as number,
      end: offsets[2 * i + 1] as number,
      bytes: Buffer.from(JSON.stringify(Buffer.from(bytes).toString()).slice(1, -1)),
    })),
  )
  return changes
}

/** Reads a body at once unless it is large, so that several edits do not read it again. */
async function originalOf(source: BodyRanges, edits: number): Promise<BodyRanges> {
  if (source.size > (edits > 1 ? IN_MEMORY : SMALL)) return source
  return rangesOf(await source.read(0, source.size))
}

/** Returns whether a body is JSON whose whole value is a text. */
async function isJsonText(draft: Draft, { mime }: AssetRecord): Promise<boolean> {
  return isJsonType(mime) && /^\s*"/.test(await draft.text(0, 64))
}

/** Returns whether a body is text: by its type, or by its beginning. */
async function isText(draft: Draft, { mime }: AssetRecord): Promise<boolean> {
  if (/^text\//.test(mime) || isJsonType(mime)) return true
  const head = await draft.read(0, 4096)
  // The last character may be cut.
  const encoding = headEncoding(head, { isWhole: false })
  return encoding === 'utf-8' ? !head.includes(0) : encoding !== 'windows-1252'
}

function invalid(message: string): ByrefError {
  return new ByrefError('invalid_arguments', message)
}

function unsupported(reason: string): ByrefError {
  return new ByrefError('asset_unsupported', `${reason}.`)
}
