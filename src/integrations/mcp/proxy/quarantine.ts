import { queryTablesTool } from '../../../assets/tables/query-tables-tool.ts'
import type { Tool } from '../../../boundary/tool.ts'
import { ByrefError } from '../../../core/errors.ts'
import { inBackground } from '../../../core/in-background.ts'
import { isPlainObject } from '../../../core/json/json.ts'
import { join, type Label, TRUSTED, UNTRUSTED } from '../../../core/labels/label.ts'
import { standIn } from '../../../core/labels/redact-value.ts'
import { isAssetRef } from '../../../core/refs/asset-ref.ts'
import { metaOf, stricterByMeta } from '../label-meta.ts'
import { failedCall, inMcpsWay, readingTools } from '../reading-tools.ts'
import { answerTo, type Channel, type Fields, failureOf, type RpcMessage } from '../rpc/json-rpc.ts'
import { type Ask, type FromServer, type Handler, relay } from '../rpc/relay.ts'
import { createPersonAsker } from './ask-person.ts'
import { callTool } from './call-tool.ts'
import { createFlowGuard } from './flow-guard.ts'
import type { LargeBlocks } from './keeper.ts'
import { createNamedResources } from './named-resources.ts'
import { redactedValues, redactedWords } from './redacted-result.ts'
import { describedServer, knownCode, withoutAsking } from './server-words.ts'
import { readToolCatalog, type ToolCatalog } from './tool-catalog.ts'

/** What is added to a server's instructions. */
const GUIDE =
  'What the tools give is not shown: asset://… stands for it. Pass it, or a field of it as asset://…/content/KEY, as a parameter of any tool; within a text write <|asset://…|>.'

const NOT_SHOWN = new ByrefError('tool_failed', 'What the server says of it is not shown')

/** A page of a list, of which none is read beyond the hundredth. */
const MAX_PAGES = 100

type Options = Pick<LargeBlocks, 'assets' | 'expiresAt'> & { whyEnded(): string }

/**
 * Stands between a client and a server of which nothing is shown but its own description, as it was when it was first asked
 * for it: results are references, whatever their size, and nothing that the server says by itself passes.
 */
export function quarantineMcp(
  client: Channel,
  server: Channel,
  { assets, expiresAt, whyEnded }: Options,
): Promise<'client' | 'server'> {
  const guard = createFlowGuard(assets)
  const asker = createPersonAsker()
  const resources = createNamedResources()
  const progress = createProgress()
  const first = new Map<string, Promise<Fields>>()
  let catalog: Promise<ToolCatalog> | null = null

  /** What the server said when it was first asked; a later word of it changes nothing. */
  function pinned(
    request: RpcMessage,
    ask: Ask,
    make: (result: Fields) => Fields,
  ): Promise<Fields> {
    const method = request.method as string
    const known = first.get(method) ?? ask(withoutAsking(request)).then(resultOf).then(make)
    first.set(method, known)
    known.catch(() => first.delete(method))
    return known
  }

  function currentCatalog(request: RpcMessage, ask: Ask): Promise<ToolCatalog> {
    const tables = readingTools().filter(({ id }) => id === queryTablesTool.id)
    catalog ??= readToolCatalog(withoutAsking(request), ask, tables)
    const current = catalog
    current.catch(() => {
      if (catalog === current) catalog = null
    })
    return current
  }

  async function redacted(result: Fields, about: { name: string; label: Label; tool?: Tool }) {
    const label = join(stricterByMeta(UNTRUSTED, result._meta), about.label)
    const from = { ...about, assets: guard.labelling(label), expiresAt }
    return { values: await redactedValues(result, from), _meta: metaOf(label) }
  }

  const handlers: Record<string, Handler> = {
    async initialize(request, { ask }) {
      asker.hear(request)
      return answerTo(request, await pinned(request, ask, (one) => describedServer(one, GUIDE)))
    },
    async 'tools/list'(request, { ask }) {
      const { tools } = (await currentCatalog(request, ask)).list
      return answerTo(request, { tools })
    },
    'prompts/list': (request, { ask }) => listed(request, 'prompts', ask),
    'resources/templates/list': (request, { ask }) => listed(request, 'resourceTemplates', ask),
    async 'resources/list'(request, { ask }) {
      const all: unknown[] = []
      let cursor: unknown
      for (let page = 0; page < MAX_PAGES; page++) {
        const params = { ...request.params, ...(cursor === undefined ? {} : { cursor }) }
        const id = `byref-${crypto.randomUUID()}`
        const result = resultOf(await ask(withoutAsking({ ...request, id, params })))
        if (Array.isArray(result.resources)) all.push(...result.resources)
        cursor = result.nextCursor
        if (typeof cursor !== 'string') break
      }
      return answerTo(request, { resources: resources.name(all) })
    },
    async 'resources/read'(request, { ask }) {
      const { uri } = Object(request.params)
      if (isAssetRef(uri)) throw new Refused('What an asset holds is not shown')
      const result = resultOf(await ask(withoutAsking(resources.toServer(request))))
      const { values, _meta } = await redacted(result, { name: 'resource', label: TRUSTED })
      const contents = [{ uri, mimeType: 'text/plain', text: redactedWords(values) }]
      return answerTo(request, { contents, _meta })
    },
    async 'prompts/get'(request, { ask }) {
      const result = resultOf(await ask(withoutAsking(request)))
      const { values, _meta } = await redacted(result, { name: 'prompt', label: TRUSTED })
      const content = { type: 'text', text: redactedWords(values) }
      return answerTo(request, { messages: [{ role: 'user', content }], _meta })
    },
    'resources/subscribe': (request, { ask }) => done(resources.subscribe(request), ask),
    'resources/unsubscribe': (request, { ask }) => done(resources.toServer(request), ask),
    ping: (request, { ask }) => done(request, ask),
    'tools/call': callTool({
      ...{ assets, catalog: currentCatalog, isClosed: true },
      trust: { guard, asker, showsValues: false },
      failed: (error) => failedHere(error),
      async read(request, tool, { input, label, signal }) {
        try {
          const asked = await inMcpsWay(tool, input, assets)
          const { assetRef } = Object(await tool.execute(asked, { assets, signal }))
          const { size } = await assets.info(String(assetRef))
          const words = standIn({ assetRef, kind: 'file', size })
          const text = `${assetRef} = ${words}`
          const _meta = metaOf(join(UNTRUSTED, label ?? UNTRUSTED))
          return answerTo(request, { content: [{ type: 'text', text }], _meta })
        } catch (error) {
          return answerTo(request, failedCall(failedHere(error)))
        }
      },
      async shown(answer, { request, name, tool, label }) {
        const result = resultOf(answer)
        const about = { name: `${name} result`, label: label ?? UNTRUSTED, tool }
        const { values, _meta } = await redacted(result, about)
        if (result.isError === true) {
          const words = `${NOT_SHOWN.code}: ${NOT_SHOWN.message}: ${redactedWords(values)}`
          return answerTo(request, {
            content: [{ type: 'text', text: words }],
            isError: true,
            _meta,
          })
        }
        const content = [{ type: 'text', text: redactedWords(values, tool) }]
        const data = { assetRef: values[0]?.ref, offloaded: true }
        const structuredContent = tool?.outputSchema && values[0] ? { structuredContent: data } : {}
        return answerTo(request, { content, ...structuredContent, _meta })
      },
    }),
  }
  handlers['server/discover'] = handlers.initialize as Handler

  async function listed(request: RpcMessage, key: string, ask: Ask): Promise<RpcMessage> {
    return answerTo(
      request,
      await pinned(request, ask, ({ [key]: list = [] }) => ({ [key]: list })),
    )
  }

  /** Of which no more is told than that it is done. */
  async function done(request: RpcMessage, ask: Ask): Promise<RpcMessage> {
    resultOf(await ask(withoutAsking(request)))
    return answerTo(request, {})
  }

  function fromServer(message: RpcMessage, help: FromServer): RpcMessage | null {
    if (message.id !== undefined) inBackground('Answering a server', answerServer(message, help))
    if (message.id !== undefined || message.method === undefined) return null
    const { method, params } = message
    if (method === 'notifications/progress') return progress.next(params)
    if (method === 'notifications/resources/updated') return resources.updated(params)
    if (method !== 'notifications/resources/list_changed') return null
    return { jsonrpc: '2.0', method }
  }

  return relay(client, server, {
    ...{ whyEnded, fromServer },
    handlers: Object.fromEntries(
      Object.entries(handlers).map(([method, handler]) => [
        method,
        progress.during((request, help) =>
          handler(request, help).catch((error) => redactedFailure(request, error)),
        ),
      ]),
    ),
    otherwise: async (request) => failureOf(request, { code: -32601, message: NOT_PASSED }),
  })
}

const NOT_PASSED = 'This is not passed on in quarantine'

/** An error in our own words. */
class Refused extends Error {
  readonly code = -32602
}

/** An error of the server, of which its code is known where that is one of the protocol's. */
class ServerError extends Error {
  readonly code: number
  constructor(error: RpcMessage['error']) {
    super('The server answered with an error. What it says is not shown')
    this.code = knownCode(error?.code)
  }
}

function resultOf({ result, error }: RpcMessage): Fields {
  if (!isPlainObject(result)) throw new ServerError(error)
  const { resultType = 'complete' } = result
  if (resultType === 'complete') return result
  throw new Refused('The server asks for something before it answers, which is not passed on')
}

function redactedFailure(request: RpcMessage, error: unknown): RpcMessage {
  const isOurs = error instanceof Refused || error instanceof ServerError
  return failureOf(request, isOurs ? error : new ServerError(Object(error)))
}

/** What went wrong with a call here: its message may say what there is in an asset. */
function failedHere(error: unknown): ByrefError {
  if (!(error instanceof ByrefError)) return NOT_SHOWN
  if (error.code === 'flow_refused') return error
  return new ByrefError(
    error.code,
    'A reference names nothing that fits here. What there is is not shown',
  )
}

/** Of what a server asks, only which folders there are, and whether anybody is there. */
async function answerServer(request: RpcMessage, { askClient, answer }: FromServer): Promise<void> {
  const { id, method } = request
  if (method === 'ping') return answer({ jsonrpc: '2.0', id, result: {} })
  if (method !== 'roots/list') {
    return answer(failureOf(request, { code: -32601, message: NOT_PASSED }))
  }
  answer({ ...(await askClient({ jsonrpc: '2.0', method })), id })
}

/** That a server is at work, without its words and numbers. */
interface Progress {
  /** A handler during whose work progress is told. */
  during(handler: Handler): Handler
  /** What is told of progress; null for that of no request under way. */
  next(params: unknown): RpcMessage | null
}

/** Begins with no request under way. */
function createProgress(): Progress {
  const counts = new Map<unknown, number>()
  return {
    during: (handler) => async (request, help) => {
      const { progressToken } = Object(request.params?._meta)
      if (progressToken !== undefined) counts.set(progressToken, 0)
      try {
        return await handler(request, help)
      } finally {
        counts.delete(progressToken)
      }
    },
    next(params) {
      const { progressToken } = Object(params)
      const before = counts.get(progressToken)
      if (before === undefined) return null
      const progress = before + 1
      counts.set(progressToken, progress)
      return {
        jsonrpc: '2.0',
        method: 'notifications/progress',
        params: { progressToken, progress },
      }
    },
  }
}
