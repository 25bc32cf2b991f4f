import type { Assets } from '../../../assets/assets-contract.ts'
import { isPlainObject } from '../../../content/json.ts'
import { isAssetRef } from '../../../refs/asset-ref.ts'
import { ASSET_TEMPLATE, assetAsResource } from '../asset-resource.ts'
import { callReadingTool, failedCall, READING_TOOLS } from '../reading-tools.ts'
import { resolveReferences } from '../reference-arguments.ts'
import {
  answerTo,
  type Channel,
  failureOf,
  isUnknownMethod,
  type RpcMessage,
} from '../rpc/json-rpc.ts'
import { type Ask, type Handler, relay } from '../rpc/relay.ts'
import type { LargeBlocks } from './keeper.ts'
import { withoutLargeBlocks } from './large-blocks.ts'
import { readToolCatalog, type ToolCatalog } from './tool-catalog.ts'

/** Options of {@link proxyMcp}. */
export interface ProxyOptions extends Partial<Omit<LargeBlocks, 'assets' | 'readingTools'>> {
  assets: Assets
  /** Why the server ended, for those whose requests it did not answer. */
  whyEnded?(): string
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
  { whyEnded = () => 'The MCP server has ended', ...options }: ProxyOptions,
): Promise<'client' | 'server'> {
  const { assets, maxChars = 32_768, maxBytes = 4_096, showImages = false, expiresAt } = options
  const large = { assets, maxChars, maxBytes, showImages, expiresAt }
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
  async function shortened(answer: RpcMessage, what: string): Promise<RpcMessage> {
    if (!answer.result) return answer
    const names = await catalog?.then((one) => one.readingTools).catch(() => null)
    const how = { ...large, readingTools: names ?? READING_TOOLS }
    try {
      const result = await withoutLargeBlocks(answer.result, what, how)
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

  const callTool: Handler = async (request, { ask, signal }) => {
    const { name, arguments: args } = Object(request.params)
    const { schemas, own } = await currentCatalog(request, ask)
    const input = isPlainObject(args) ? args : {}
    const reading = own.get(name)
    if (reading) return answerTo(request, await callReadingTool(reading, input, { assets, signal }))
    const schema = schemas.get(name)
    let given = input
    try {
      if (schema) given = await resolveReferences(input, schema, assets)
    } catch (error) {
      return answerTo(request, failedCall(error))
    }
    signal.throwIfAborted()
    const changed = { ...request, params: { ...request.params, arguments: given } }
    return shortened(await ask(given === input ? request : changed), `${name} result`)
  }

  const handlers: Record<string, Handler> = {
    initialize: async (request, { ask }) => withOurs(await ask(request)),
    'server/discover': async (request, { ask }) => withOurs(await ask(request)),
    'tools/list': async (request, { ask }) => {
      catalog = null
      return answerTo(request, (await currentCatalog(request, ask)).list)
    },
    'tools/call': callTool,
    'tasks/result': short('task result'),
    'prompts/get': short('prompt'),
    'resources/list': async (request, { ask }) =>
      listed(await ask(request), request, 'resources', []),
    'resources/templates/list': async (request, { ask }) =>
      listed(await ask(request), request, 'resourceTemplates', [ASSET_TEMPLATE]),
    async 'resources/read'(request, help) {
      const { uri } = Object(request.params)
      if (!isAssetRef(uri)) return short('resource')(request, help)
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
    onNotification(method) {
      if (method === 'notifications/tools/list_changed') catalog = null
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
