import { checkMethods, checkOptions } from '../core/check-options.ts'
import { defined } from '../core/defined.ts'
import { ByrefError } from '../core/errors.ts'
import type { AssetEvent } from '../core/events/events.ts'
import { textStart } from '../core/json/cut.ts'
import { EventBodies } from './asset-events.ts'
import { AssetLocator, type NamespaceOption } from './asset-locator.ts'
import { createAssetReader } from './asset-reader.ts'
import { isFullStore } from './asset-store.ts'
import { AssetWriter } from './asset-writer.ts'
import { type AssetLimits, createConfiguredStore, resolveAssetsConfig } from './assets-config.ts'
import type {
  AssetScope,
  Assets,
  CreateAssetsOptions,
  QueryOptions,
  TableQuery,
} from './assets-contract.ts'
import type { AssetsCore } from './assets-core.ts'
import { ASSETS_METHODS, CREATE_ASSETS, checkQuery } from './assets-options.ts'
import { isPlainText, mayBeTable } from './bodies/mime-type.ts'
import { ContentCache } from './content-access.ts'
import { withRecords } from './stores/with-records.ts'
import { sweepAssets } from './sweep-assets.ts'
import { Importer } from './tables/import-file.ts'
import type { QueryResult } from './tables/query-tables.ts'
import { isRows, isWorkbook } from './tables/table-facts.ts'

/**
 * Creates assets on a store: saving, reading, references, namespaces, limits and events.
 *
 * @throws ByrefError `config_invalid` for an unknown option, and for a namespace in mode `none`
 */
export function createAssets(options: CreateAssetsOptions = {}): Assets {
  checkOptions('createAssets', options, CREATE_ASSETS)
  const { config: given = {}, store: own, ...scope } = options
  const store = own ? (isFullStore(own) ? own : withRecords(own)) : createConfiguredStore(given)
  const config = resolveAssetsConfig(given, store)
  const core: AssetsCore = {
    store,
    config,
    locator: new AssetLocator(config.namespacing),
    // What can be read only once must not stay here.
    cache: new ContentCache(store.readsOnce ? 0 : config.limits.cacheBytes),
    eventBodies: new EventBodies(config),
    quota: quotaOf(config.limits),
  }
  return viewOf(core, scope)
}

/** Defaults of {@link Assets.query}. */
const ROWS = 100_000
const TIMEOUT_MS = 30_000

function viewOf(core: AssetsCore, scope: AssetScope): Assets {
  core.locator.checkScope(scope.namespace)
  const namespaceFor = (options?: NamespaceOption) =>
    core.locator.namespaceFor(options, scope.namespace)
  const reader = createAssetReader(core, scope)
  const writer = new AssetWriter(core, scope)
  const importer = new Importer(core, { reader, writer })
  async function runQuery(query: TableQuery, options: QueryOptions): Promise<QueryResult> {
    const { rows = ROWS, timeoutMs = TIMEOUT_MS, namespace, signal } = options
    const { queryTables } = await import('./tables/query-tables.ts')
    return queryTables({ reader, importer }, query, {
      limits: { rows, timeoutMs },
      namespace: namespaceFor({ namespace }),
      signal,
    })
  }
  const assets: Assets = {
    ...reader,
    save: (body, mime, options) => writer.save(body, mime, options),
    saveAsset: (asset, options) => writer.saveAsset(asset, options),
    reportError: (error) => writer.reportError(error),
    importFile: (body, options) => importer.importFile(body, options),
    async rows(ref, options = {}) {
      const { fieldPath } = core.locator.locate(ref, options, scope.namespace)
      const info = await reader.info(ref, options)
      const mayHaveTables = info.structured ? isWorkbook(info.assetId) : mayBeTable(info.mime)
      if (info.table || !mayHaveTables || !isRows(fieldPath)) return reader.rows(ref, options)
      const found = await importer.tableOf(info.ref, options)
      if (found.table !== null) return reader.rows(found.table, options)
      if (!found.isWorkbook && (info.structured || isPlainText(info.mime))) {
        return reader.rows(ref, options)
      }
      throw new ByrefError('invalid_arguments', `${info.ref} is ${found.problem}`)
    },
    async query(query, options = {}) {
      checkQuery(query)
      const { rows, timeoutMs, name = null, ...saving } = options
      const { saveTable } = await import('./tables/save-table.ts')
      const { table, sources } = await runQuery(query, options)
      const about = { ...saving, name, description: textStart(query.sql, 500), source: null }
      return saveTable(writer, table, { ...about, references: sources })
    },
    async edit(ref, edits, { dryRun = false, ...options } = {}) {
      const place = core.locator.locate(ref, options, scope.namespace)
      const { editAsset } = await import('./edit/edit-asset.ts')
      const sources = { core, writer, importer, runQuery }
      return editAsset(sources, { place, edits, dryRun, options })
    },
    scoped: (inner) => viewOf(core, innerScope(scope, inner)),
    async sweep({ namespace, ...options } = {}) {
      const where = namespaceFor({ namespace })
      return sweepAssets(core.store, where, options)
    },
    verify: ({ namespace, signal } = {}) =>
      core.store.verify({ namespace: namespaceFor({ namespace }), signal }),
    usage: async (options) => core.store.usage({ namespace: namespaceFor(options) }),
    remember(created, options) {
      const namespace = namespaceFor(options)
      if ((created.namespace ?? null) === namespace) core.store.remember?.(created, { namespace })
    },
    ready: () => core.store.ready(),
    config: core.config,
  }
  return checkMethods('assets', assets, ASSETS_METHODS)
}

function quotaOf({ quotaAssets: assets, quotaBytes: bytes }: Required<AssetLimits>) {
  return assets === Infinity && bytes === Infinity ? undefined : { assets, bytes }
}

/**
 * Combines two scopes. The inner scope's settings override those of the outer. Both receive events, the inner scope
 * first.
 */
function innerScope(outer: AssetScope, inner: AssetScope): AssetScope {
  const { onEvent, namespace, ...settings } = inner
  const both = async (event: AssetEvent) => {
    await onEvent?.(event)
    await outer.onEvent?.(event)
  }
  return {
    ...outer,
    ...defined({ ...settings, namespace: namespace ?? undefined }),
    onEvent: onEvent && outer.onEvent ? both : (onEvent ?? outer.onEvent),
  }
}
