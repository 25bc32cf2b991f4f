import { checkOptions, is, type MethodTables, type OptionTable } from '../core/check-options.ts'
import { ByrefError } from '../core/errors.ts'
import { type AssetMaker, NAMESPACE, RANGE, SAME_METHODS, STORE } from './asset-store.ts'
import { ASSETS_CONFIG } from './assets-config.ts'
import type {
  AssetScope,
  Assets,
  CreateAssetsOptions,
  QueryOptions,
  SaveAssetOptions,
  SaveOptions,
  TableQuery,
} from './assets-contract.ts'

export const MAKER: OptionTable<AssetMaker> = {
  by: is.oneOf('tool', 'agent', 'user', 'system'),
  ...is.all(is.string, 'tool', 'toolCallId', 'origin'),
}
const SAVE_ASSET: OptionTable<SaveAssetOptions> = {
  ...NAMESPACE,
  ...MAKER,
  expiresAt: is.nullable(is.either(is.string, is.having<Date>('a Date', 'getTime'))),
  signal: is.signal,
}
const SAVE: OptionTable<SaveOptions> = {
  ...SAVE_ASSET,
  name: is.nullable(is.string),
  ...is.all(is.string, 'description', 'assetType', 'assetId'),
  owned: is.boolean,
}
const SCOPE: OptionTable<AssetScope> = {
  ...NAMESPACE,
  ...MAKER,
  onEvent: is.callback(),
  label: is.callback(),
}

export const CREATE_ASSETS: OptionTable<CreateAssetsOptions> = {
  ...SCOPE,
  config: is.group(ASSETS_CONFIG),
  store: STORE,
}

const QUERY: OptionTable<TableQuery> = {
  sql: is.required(is.string),
  tables: is.recordOf(
    is.checked<string | object>('a reference or a list of objects', isTableInput),
  ),
}
const QUERY_OPTIONS: OptionTable<QueryOptions> = {
  ...SAVE_ASSET,
  name: is.string,
  rows: is.count,
  timeoutMs: is.positive,
}

/** Checks a query, which must not contain the options of the second argument. */
export function checkQuery(query: TableQuery): void {
  const option = Object.keys(Object(query)).find((key) => Object.hasOwn(QUERY_OPTIONS, key))
  if (option === undefined) checkOptions('assets.query', query, QUERY)
  else {
    const message = `"${option}" belongs to the second argument: assets.query({ sql }, { ${option} })`
    throw new ByrefError('config_invalid', message)
  }
}

export const ASSETS_METHODS: MethodTables<Assets> = {
  save: { 2: SAVE },
  saveAsset: {
    0: {
      ...is.all(is.string, 'asset_type', 'asset_id', 'asset_name', 'description'),
      content_type: is.required(is.string),
      content: is.required(is.anything),
    },
    1: SAVE_ASSET,
  },
  importFile: {
    1: {
      ...SAVE,
      name: is.required(is.string),
      mime: is.nullable(is.string),
      onProgress: is.callback(),
    },
  },
  ...is.all({ 1: NAMESPACE }, 'get', 'getBase64', 'getDataUrl', 'info'),
  ...is.all({ 1: NAMESPACE }, 'delete', 'resolve', 'text', 'meta', 'versions'),
  open: { 1: { ...NAMESPACE, ...RANGE, signal: is.signal } },
  ...SAME_METHODS,
  rows: { 1: { ...NAMESPACE, signal: is.signal } },
  query: { 1: QUERY_OPTIONS },
  edit: { 2: { ...SAVE_ASSET, dryRun: is.boolean } },
  sweep: {
    0: {
      ...NAMESPACE,
      referenced: is.checked('a list of references, or a function of an id', isMarks),
      keepVersions: is.either(is.wholeNumber, is.recordOf(is.wholeNumber)),
      graceMs: is.notNegative,
      dryRun: is.boolean,
      signal: is.signal,
      onProgress: is.callback(),
    },
  },
  scoped: { 0: SCOPE, throws: true },
}

function isMarks(value: unknown): boolean {
  if (typeof value === 'function') return true
  if (typeof value !== 'object' || value === null) return false
  return Symbol.iterator in value || Symbol.asyncIterator in value
}

/** Whether a value can be a table of a query. */
export function isTableInput(value: unknown): value is string | object {
  return typeof value === 'string' || (typeof value === 'object' && value !== null)
}
