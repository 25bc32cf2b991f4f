import { inBackground } from '../../../core/in-background.ts'
import { type Channel, failureOf, type RpcMessage } from './json-rpc.ts'

/** Asks the server, and gives its answer. */
export type Ask = (request: RpcMessage) => Promise<RpcMessage>

/** What a handler has to answer with. */
export interface Help {
  ask: Ask
  /** Asks the client, under an id of its own; an error where the request that it is for is cancelled. */
  askClient: Ask
  signal: AbortSignal
}

/** Answers a request of the client, with the server's help or without. */
export type Handler = (request: RpcMessage, help: Help) => Promise<RpcMessage>

/** Options of {@link relay}. */
export interface RelayOptions {
  /** By the methods that they answer. */
  handlers: Readonly<Record<string, Handler>>
  /** Answers all other requests; without it they pass. */
  otherwise?: Handler
  /** Told of the server's own requests and notifications; what it gives passes in their place, and of null nothing does. */
  fromServer(message: RpcMessage, help: FromServer): RpcMessage | null
  /** Why the server ended, for those whose requests it did not answer. */
  whyEnded(): string
}

/** What a request of the server can be answered with. */
export interface FromServer {
  askClient: Ask
  answer(message: RpcMessage): void
}

/**
 * Passes messages between a client and a server as they are, but for the requests that have a handler. Resolves when one of the two has
 * ended and the other is closed, with which it was; what the server left unanswered is answered by an error first.
 */
export async function relay(
  client: Channel,
  server: Channel,
  { handlers, otherwise, fromServer, whyEnded }: RelayOptions,
): Promise<'client' | 'server'> {
  /** What takes the server's answers, by the ids of the requests. */
  const asked = new Map<unknown, (answer: RpcMessage) => void>()
  /** What takes the client's answers to requests of our own. */
  const askedClient = new Map<unknown, (answer: RpcMessage) => void>()
  /** Requests that are with a handler. */
  const working = new Map<unknown, AbortController>()
  const unsent = new Set<Promise<void>>()

  function send(message: RpcMessage): void {
    server.send(message).catch((error) => take(failureOf(message, error)))
  }

  /** A client that has gone is told nothing. */
  async function tell(message: RpcMessage): Promise<void> {
    await client.send(message).catch(() => {})
  }

  function take(answer: RpcMessage): void {
    const waiting = asked.get(answer.id)
    asked.delete(answer.id)
    waiting?.(answer)
  }

  const ask: Ask = (request) => {
    const { promise, resolve } = Promise.withResolvers<RpcMessage>()
    asked.set(request.id, resolve)
    send(request)
    return promise
  }

  async function askClient(request: RpcMessage, signal?: AbortSignal): Promise<RpcMessage> {
    if (signal?.aborted) return failureOf(request, 'cancelled')
    const { promise, resolve } = Promise.withResolvers<RpcMessage>()
    const id = `byref-${crypto.randomUUID()}`
    askedClient.set(id, resolve)
    signal?.addEventListener('abort', () => resolve(failureOf(request, 'cancelled')))
    await tell({ ...request, id })
    return promise.finally(() => askedClient.delete(id))
  }

  async function handle(request: RpcMessage, handler: Handler): Promise<void> {
    const controller = new AbortController()
    const { signal } = controller
    working.set(request.id, controller)
    const help = { ask, askClient: (one: RpcMessage) => askClient(one, signal), signal }
    const answer = await handler(request, help).catch((error) => failureOf(request, error))
    if (controller.signal.aborted) return
    working.delete(request.id)
    await tell(answer)
  }

  /** Whether the server has to hear of it. */
  function cancel(id: unknown): boolean {
    const isAsked = asked.has(id)
    const controller = working.get(id)
    working.delete(id)
    controller?.abort()
    if (controller) take(failureOf({ jsonrpc: '2.0', id: id as string }, 'cancelled'))
    asked.delete(id)
    return isAsked
  }

  client.onmessage = (message) => {
    const { id, method = '', params } = message
    const answered = method === '' ? askedClient.get(id) : undefined
    if (answered) return answered(message)
    const handler = Object.hasOwn(handlers, method) ? handlers[method] : otherwise
    if (id !== undefined && method && handler) {
      const work = handle(message, handler).finally(() => unsent.delete(work))
      unsent.add(work)
      return
    }
    if (id !== undefined && method) asked.set(id, tell)
    if (method !== 'notifications/cancelled' || cancel(params?.requestId)) send(message)
  }
  server.onmessage = (message) => {
    if (message.method === undefined) return take(message)
    const passing = fromServer(message, { askClient, answer: send })
    if (passing) inBackground('Telling the client', tell(passing))
  }
  const ended = new Promise<'client' | 'server'>((resolve) => {
    client.onclose = () => resolve('client')
    server.onclose = () => resolve('server')
  })
  await Promise.all([server.start(), client.start()])
  const first = await ended
  if (first === 'client') {
    await server.close()
    return first
  }
  const reason = { message: whyEnded() }
  for (const id of asked.keys()) take(failureOf({ jsonrpc: '2.0', id: id as string }, reason))
  await Promise.all(unsent)
  await client.close()
  return first
}
