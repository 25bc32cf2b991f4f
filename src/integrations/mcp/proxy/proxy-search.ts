import type { AssetTool } from '../../../assets/asset-tools.ts'
import type { Tool, ToolContext } from '../../../boundary/tool.ts'
import { namesInText, noSuchTool, ToolIndex } from '../../../boundary/tool-index.ts'
import type { DescribedTool } from '../../../boundary/tool-ranking.ts'
import {
  CALL_TOOL,
  isSearched,
  SEARCH_TOOLS,
  searchTools,
  type ToolSearchOptions,
  unwrapValidCallTool,
} from '../../../boundary/tool-search.ts'
import { ByrefError } from '../../../core/errors.ts'
import type { ToolCall } from '../../../core/messages/message.ts'
import { nodeBuiltin } from '../../../node-builtin.ts'
import { clientToolOf, textBlock } from '../assets-for-clients.ts'
import type { Fields, RpcMessage } from '../rpc/json-rpc.ts'
import { NOT_RUNNING } from '../tools-of-servers.ts'
import type { ToolCatalog } from './tool-catalog.ts'

const { isDeepStrictEqual } = nodeBuiltin('node:util')

/** Maximum number of servers that a note names. */
const MAX_MISSING = 20

/** Maximum length of the names in the note about changed tools, in characters. */
const MAX_NAMES = 1_000

/**
 * Lets a client find the tools of its server by search. The client's list stays the same for the whole session, so
 * that its prompts stay the same, too. What is new is found by search.
 */
export class ProxySearch {
  /** The tools that the client lists. */
  readonly list: readonly Fields[]
  readonly #rank: ToolSearchOptions['rank']
  readonly #pinned: ReadonlySet<unknown>
  readonly #searchTool: Tool
  #catalog: ToolCatalog
  #index: ToolIndex | null = null

  private constructor(catalog: ToolCatalog, { pinned = [], rank }: ToolSearchOptions) {
    this.#catalog = catalog
    this.#rank = rank
    // A server's own tools of these names are called through call_tool.
    this.#pinned = new Set(pinned.filter((name) => name !== SEARCH_TOOLS && name !== CALL_TOOL))
    const [search, call] = searchTools(this.#names(), async () => this.#current()) as [Tool, Tool]
    this.#searchTool = search
    const { annotations: _, ...calling } = clientToolOf(call as AssetTool, CALL_TOOL)
    const shown = catalog.shown.filter(({ name }) => this.#pinned.has(name))
    this.list = [
      ...shown,
      ...catalog.added,
      clientToolOf(search as AssetTool, SEARCH_TOOLS),
      calling,
    ]
  }

  /** Returns the search for a client's first list of tools. Null if the tools are few. */
  static for(
    catalog: ToolCatalog,
    option: boolean | ToolSearchOptions | undefined,
  ): ProxySearch | null {
    const isOn = catalog.shown.length > 0 && isSearched(option, () => lengthOf(catalog))
    if (!isOn) return null
    return new ProxySearch(catalog, typeof option === 'object' ? option : {})
  }

  /** Whether the server's tools must be read again before a call: before a search, and for an unknown name. */
  isStale({ params }: RpcMessage): boolean {
    const { name, arguments: args } = Object(params)
    return name === SEARCH_TOOLS || (name === CALL_TOOL && !this.#has(Object(args).name))
  }

  /** Updates the server's tools. Returns notes for the model if the tools have changed. */
  update(catalog: ToolCatalog): string[] {
    const before = this.#names()
    const isSame = isDeepStrictEqual(catalog.shown, this.#catalog.shown)
    this.#catalog = catalog
    if (isSame) return []
    this.#index = null
    const after = this.#names()
    return [
      ...noteOf(`New tools, which ${SEARCH_TOOLS} finds`, after, before),
      ...noteOf('Tools that do not exist any more', before, after),
    ]
  }

  /** Answers a call of `search_tools`. Null for a call of another tool, also one of this name that the server has. */
  async answer({ params }: RpcMessage): Promise<Fields | null> {
    const { name, arguments: args } = Object(params)
    if (name !== SEARCH_TOOLS) return null
    const found = Object(await this.#searchTool.execute(Object(args), {} as ToolContext))
    const note = [found.note, this.#missing()].filter(Boolean).join(' ')
    const answer = note === '' ? found : { ...found, note }
    return { content: [textBlock(JSON.stringify(answer))] }
  }

  /**
   * Returns the request that a call of `call_tool` stands for. Any other request is returned unchanged.
   *
   * @throws ByrefError `tool_not_found`, `invalid_arguments`
   */
  called(request: RpcMessage): RpcMessage {
    const { name, arguments: args } = Object(request.params)
    if (name !== CALL_TOOL) return request
    const written: ToolCall = { id: '', name, arguments: Object(args) }
    const call = unwrapValidCallTool(written)
    if (call.via === undefined) {
      throw new ByrefError(
        'invalid_arguments',
        `${CALL_TOOL} takes { name, arguments }: the name of a tool, and an object`,
      )
    }
    if (!this.#has(call.name)) {
      const unknown = `${noSuchTool(call.name, this.#names())} Find tools with ${SEARCH_TOOLS}.`
      const message = `${unknown} ${this.#missing()}`.trim()
      throw new ByrefError('tool_not_found', message)
    }
    return { ...request, params: { ...request.params, name: call.name, arguments: call.arguments } }
  }

  /** Names the servers whose tools may be missing. */
  #missing(): string {
    const given = Object(this.#catalog.rest._meta)[NOT_RUNNING]
    const names = (Array.isArray(given) ? given : []).slice(0, MAX_MISSING).map(String)
    return names.length > 0 ? `These servers are not running: ${namesInText(names)}.` : ''
  }

  #has(name: string): boolean {
    return name === SEARCH_TOOLS || this.#catalog.own.has(name) || this.#catalog.tools.has(name)
  }

  #names(): string[] {
    return this.#catalog.shown
      .map(({ name }) => String(name))
      .filter((one) => !this.#pinned.has(one))
  }

  #current(): ToolIndex {
    this.#index ??= new ToolIndex(
      this.#catalog.shown.filter(({ name }) => !this.#pinned.has(name)).map(describedAs),
      this.#rank,
    )
    return this.#index
  }
}

function describedAs({ name, title, description, inputSchema }: Fields): DescribedTool {
  const words = [description, title].find((one) => typeof one === 'string' && one !== '')
  return { name: String(name), description: words as string, inputSchema: Object(inputSchema) }
}

/** The length of the tools of a server in a prompt, in characters. */
function lengthOf({ shown }: ToolCatalog): number {
  return JSON.stringify(shown.map(describedAs)).length
}

/** Returns a note on the names that are only in the first list; empty if there are none. */
function noteOf(what: string, names: readonly string[], others: readonly string[]): string[] {
  const known = new Set(others)
  const list = names.filter((name) => !known.has(name)).join(', ')
  if (list === '') return []
  return [`${what}: ${list.length > MAX_NAMES ? `${list.slice(0, MAX_NAMES)}…` : list}`]
}
