import type { Assets } from '../../../assets/assets-contract.ts'
import type { Tool } from '../../../boundary/tool.ts'
import { checkOptions, is, type OptionTable } from '../../../core/check-options.ts'
import { ByrefError } from '../../../core/errors.ts'
import type { TrustMode } from '../../../core/events/events.ts'
import { isPlainObject } from '../../../core/json/json.ts'
import { join, type Label, TRUSTED, UNTRUSTED } from '../../../core/labels/label.ts'
import { isAssetRef } from '../../../core/refs/asset-ref.ts'
import { TRUST_MODE } from '../../../policies/trust/trust-options.ts'
import { ASSET_TEMPLATE, assetAsResource } from '../asset-resource.ts'
import { stricterByMeta, withLabel } from '../label-meta.ts'
import { callReadingTool, READING_TOOLS } from '../reading-tools.ts'
import {
  answerTo,
  type Channel,
  failureOf,
  isUnknownMethod,
  type RpcMessage,
} from '../rpc/json-rpc.ts'
import { type Ask, type Handler, relay } from '../rpc/relay.ts'
import { createPersonAsker, type PersonAsker } from './ask-person.ts'
import { callTool } from './call-tool.ts'
import { createFlowGuard, type FlowGuard } from './flow-guard.ts'
import type { LargeBlocks } from './keeper.ts'
import { withoutLargeBlocks } from './large-blocks.ts'
import { quarantineMcp } from './quarantine.ts'
import { readToolCatalog, type ToolCatalog } from './tool-catalog.ts'

/** Options of {@link proxyMcp}. */
export interface ProxyOptions extends Partial<Omit<LargeBlocks, 'assets' | 'readingTools'>> {
  assets: Assets
  /** Why the server ended, for those whose requests it did not answer. */
  whyEnded?(): string
  /**
   * What the client is shown, and what may flow. `track` shows values, and holds up what acts on what nobody vouches for;
   * `quarantine` shows nothing of what the server gives, whatever its size. Default `off`.
   */
  trust?: TrustMode
}

const OPTIONS: OptionTable<ProxyOptions> = {
  assets: is.required(is.having('assets, made by createAssets', 'save', 'saveAsset')),
  trust: TRUST_MODE,
  ...is.all(is.positive, 'maxChars', 'maxBytes'),
  showImages: is.boolean,
  whyEnded: is.callback(),
  expiresAt: is.callback(),
}

/** What is added to a server's instructions. */
const GUIDE =
  'Large results are kept as assets, and asset://… stands for them: pass it as a parameter of any tool instead of writing the value out.'

/**
 * Stands between a client and an MCP server, message by message, whatever version of the protocol they speak: large results
 * become references, parameters take them, tools to read them are added. Everything else passes as it came.
 * Resolves when one of the two has ended and the other is closed, with which it was.
 */
export function proxyMcp(
  client: Channel,
  server: Channel,
  options: ProxyOptions,
): Promise<'client' | 'server'> {
  checkOptions('proxyMcp', options, OPTIONS)
  const { whyEnded = () => 'The MCP server has ended', trust = 'off', assets, expiresAt } = options
  const { maxChars = 32_768, maxBytes = 4_096, showImages = false } = options
  if (trust === 'quarantine') {
    if (!showImages) return quarantineMcp(client, server, { assets, expiresAt, whyEnded })
    throw new ByrefError('config_invalid', 'showImages shows what trust: "quarantine" hides')
  }
  const large = { assets, maxChars, maxBytes, showImages, expiresAt }
  const tracked = trust === 'track' ? createTracked(assets) : null
  let catalog: Promise<ToolCatalog> | null = null

  function currentCatalog(request: RpcMessage, ask: Ask): Promise<ToolCatalog> {
    catalog ??= readToolCatalog(request, ask)
    const current = catalog
    current.catch(() => {
      if (catalog === current) catalog = null
    })
    return current
  }

  /** The server's answer without what is large in it. */
  async function shortened(
    answer: RpcMessage,
    what: string,
    tracking: ReturnType<Tracked['result']> | undefined = tracked?.result(answer),
  ): Promise<RpcMessage> {
    if (!answer.result) return answer
    const names = await catalog?.then((one) => one.readingTools).catch(() => null)
    const how = { ...large, ...tracking, readingTools: names ?? READING_TOOLS }
    const labelled = tracking ? withLabel(answer.result, tracking.label) : answer.result
    try {
      const result = await withoutLargeBlocks(labelled, what, how)
      return result === answer.result ? answer : { ...answer, result }
    } catch {
      // A full disk costs references, not results.
      return answer
    }
  }

  function short(what: string): Handler {
    return async (request, { ask }) =>
      shortened(await ask(request), `${Object(request.params).name ?? ''} ${what}`.trim())
  }

  const handlers: Record<string, Handler> = {
    async initialize(request, { ask }) {
      tracked?.asker.hear(request)
      return withOurs(await ask(request))
    },
    'server/discover': async (request, { ask }) => withOurs(await ask(request)),
    'tools/list': async (request, { ask }) => {
      catalog = null
      return answerTo(request, (await currentCatalog(request, ask)).list)
    },
    'tools/call': callTool({
      ...{ assets, catalog: currentCatalog, isClosed: false, failed: (error) => error },
      trust: tracked && { ...tracked, showsValues: true },
      async read(request, tool, { input, label, signal }) {
        if (label) tracked?.guard.show(label)
        return answerTo(request, await callReadingTool(tool, input, { assets, signal }))
      },
      shown: (answer, { name, tool, label }) =>
        shortened(answer, `${name} result`, tracked?.result(answer, { tool, label })),
    }),
    'tasks/result': short('task result'),
    'prompts/get': short('prompt'),
    async 'resources/list'(request, { ask }) {
      const answer = await ask(request)
      const { resources } = Object(answer.result)
      if (Array.isArray(resources) && resources.length > 0) tracked?.result(answer)
      return listed(answer, request, 'resources', [])
    },
    'resources/templates/list': async (request, { ask }) =>
      listed(await ask(request), request, 'resourceTemplates', [ASSET_TEMPLATE]),
    async 'resources/read'(request, help) {
      const { uri } = Object(request.params)
      if (!isAssetRef(uri)) return short('resource')(request, help)
      if (tracked) tracked.guard.show(tracked.guard.given({ uri }, null).all)
      const found = assetAsResource(assets, String(uri)).then((one) => answerTo(request, one))
      return found.catch(async (error) => {
        // The server may have addresses of this form, too.
        const answer = await help.ask(request)
        return answer.error ? failureOf(request, error) : answer
      })
    },
  }
  return relay(client, server, {
    ...{ handlers, whyEnded },
    ...(tracked ? { otherwise: tracked.otherwise } : {}),
    fromServer(message) {
      if (message.method === 'notifications/tools/list_changed') catalog = null
      tracked?.heard(message)
      return message
    },
  })
}

/** What a server says of itself, with what is here beside it. */
function withOurs(answer: RpcMessage): RpcMessage {
  const { result } = answer
  if (!isPlainObject(result?.capabilities)) return answer
  const capabilities = { tools: {}, resources: {}, ...result.capabilities }
  const instructions = [result.instructions, GUIDE].filter(Boolean).join('\n\n')
  return { ...answer, result: { ...result, capabilities, instructions } }
}

/** A list of the server, with more behind its last page; a server that knows no such list has an empty one. */
function listed(answer: RpcMessage, request: RpcMessage, key: string, more: unknown[]): RpcMessage {
  if (isUnknownMethod(answer)) return answerTo(request, { [key]: more })
  const { result } = answer
  if (!Array.isArray(result?.[key]) || result.nextCursor || more.length === 0) return answer
  return { ...answer, result: { ...result, [key]: [...result[key], ...more] } }
}

/** What a client that is shown everything has been shown. */
interface Tracked {
  guard: FlowGuard
  asker: PersonAsker
  /** Notes that an answer is shown; gives its label, and where it is kept under that. */
  result(answer: RpcMessage, of?: TrackedCall): { label: Label; assets: Assets }
  /** Notes what the server says and asks by itself. */
  heard(message: RpcMessage): void
  /** Passes a request that nobody else answers. */
  otherwise: Handler
}

interface TrackedCall {
  tool: Tool | undefined
  /** Of what it was given. */
  label: Label | null
}

/** Methods whose answers are the words of who made the server, or none. */
const OWN_WORDS = /^(ping|prompts\/list|logging\/setLevel|resources\/(un)?subscribe)$/

/** What a server sends without a word of what it reads. */
const WORDLESS = /^(ping|roots\/list|notifications\/.*list_changed|notifications\/cancelled)$/

/** Begins with a client that was shown nothing. */
function createTracked(assets: Assets): Tracked {
  const guard = createFlowGuard(assets)
  const asker = createPersonAsker()

  function result({ result }: RpcMessage, { tool, label }: Partial<TrackedCall> = {}) {
    const usual = tool?.openWorld === false && result ? TRUSTED : UNTRUSTED
    const all = stricterByMeta(join(usual, label ?? TRUSTED), result?._meta)
    guard.show(all)
    return { label: all, assets: guard.labelling(all) }
  }

  return {
    ...{ guard, asker, result },
    heard({ method = '', params }) {
      if (WORDLESS.test(method)) return
      const isSilent = method === 'notifications/progress' && Object(params).message === undefined
      if (!isSilent) guard.show(UNTRUSTED)
    },
    async otherwise(request, { ask }) {
      const answer = await ask(request)
      const isOwn = OWN_WORDS.test(request.method ?? '') && isPlainObject(answer.result)
      if (!isOwn) result(answer)
      return answer
    },
  }
}
