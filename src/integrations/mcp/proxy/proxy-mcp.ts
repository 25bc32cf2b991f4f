import type { Assets } from '../../../assets/assets-contract.ts'
import { TOOL_SEARCH, type ToolSearchOptions } from '../../../boundary/tool-search.ts'
import { checkOptions, is, type OptionTable } from '../../../core/check-options.ts'
import { ByrefError } from '../../../core/errors.ts'
import type { TrustMode } from '../../../core/events/events.ts'
import { TRUST_MODE } from '../../../policies/trust/trust-options.ts'
import { SessionLabels } from '../../trust/session-labels.ts'
import { saveBody } from '../assets-for-clients.ts'
import type { Channel } from '../rpc/json-rpc.ts'
import { relay } from '../rpc/relay.ts'
import { plainView } from './plain-view.ts'
import type { ProxySession } from './proxy-tools.ts'
import { quarantineView } from './quarantine.ts'

/** Options of {@link proxyMcp}. */
export interface ProxyOptions {
  /** The assets in which large results are stored. */
  assets: Assets
  /** Maximum characters of a text, or of structured content as JSON, that pass unchanged. Default 32,768. */
  maxChars?: number
  /** Maximum bytes of an image, a sound or a file that pass unchanged. Default 4,096. */
  maxBytes?: number
  /** Whether images stay next to their references, for the model to see. Default false. */
  showImages?: boolean
  /** Whether `edit_asset` is added to the tools. It makes new versions of assets. Default false. */
  editing?: boolean
  /**
   * Whether the client gets `search_tools` and `call_tool` in place of the server's tools, which it then finds by
   * search. Default: on above 10,000 tokens of tools.
   */
  toolSearch?: boolean | ToolSearchOptions
  /**
   * A folder of this machine, for a server that runs here. A parameter that takes the path of a file then takes
   * references, too: the asset is saved there, and the server gets its path. Default: no parameter does.
   */
  files?: string
  /** Returns when an asset that is saved now expires. Default: never. */
  expiresAt?(): Date
  /**
   * Returns why the server ended, as the message for requests that it did not answer. It must not contain text of the
   * server.
   */
  whyEnded?(): string
  /**
   * How untrusted data is treated. `track`: the model sees values, and a person is asked about calls that act on them.
   * `quarantine`: the model sees references in place of all results, whatever their size. Default `off`.
   */
  trust?: TrustMode
}

const OPTIONS: OptionTable<ProxyOptions> = {
  assets: is.required(is.having('assets, made by createAssets', 'save', 'saveAsset')),
  trust: TRUST_MODE,
  ...is.all(is.positive, 'maxChars', 'maxBytes'),
  ...is.all(is.boolean, 'showImages', 'editing'),
  toolSearch: TOOL_SEARCH,
  files: is.string,
  whyEnded: is.callback(),
  expiresAt: is.callback(),
}

/**
 * Stands between a client and an MCP server. Large results become references, parameters take references, and tools to
 * read them are added. All other messages pass unchanged, in any version of the protocol.
 *
 * @returns Resolves to which of the two ended first. The other one is then closed.
 * @throws ByrefError `config_invalid` for unknown options
 */
export function proxyMcp(
  client: Channel,
  server: Channel,
  options: ProxyOptions,
): Promise<'client' | 'server'> {
  checkOptions('proxyMcp', options, OPTIONS)
  const { whyEnded = () => 'The MCP server has ended', trust = 'off', assets, expiresAt } = options
  const { maxChars = 32_768, maxBytes = 4_096, showImages = false, editing = false } = options
  const { toolSearch, files } = options
  if (trust === 'quarantine' && showImages) {
    throw new ByrefError(
      'config_invalid',
      'showImages cannot be used with trust: "quarantine", which hides images',
    )
  }
  const labels = trust === 'off' ? null : new SessionLabels(trust)
  const save: ProxySession['save'] = (label) => async (body, name) => {
    const info = await saveBody(body, assets, { name, expiresAt: expiresAt?.() })
    if (info) labels?.noteAsset(info.assetId, label)
    return info
  }
  const session = { assets, labels, editing, toolSearch, files, save }
  const view =
    trust === 'quarantine'
      ? quarantineView(session)
      : plainView(session, { maxChars, maxBytes, showImages })
  return relay(client, server, { ...view, whyEnded })
}
