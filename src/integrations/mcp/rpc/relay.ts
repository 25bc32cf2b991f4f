import { inBackground } from '../../../core/in-background.ts'
import { type Ask, type Channel, failureOf, type RpcMessage } from './json-rpc.ts'

/** The two sides of the relay, for a handler. */
export interface Peers {
  /** Asks the server. */
  ask: Ask
  /** Asks the client, under a new id. Resolves to an error when the handled request is cancelled. */
  askClient: Ask
  /** Aborted when the client cancels the request. */
  signal: AbortSignal
  /** Returns why the server ended, in byref's words. Null while it runs. */
  whyEnded(): string | null
}

/** Answers a request of the client. */
export type Handler = (request: RpcMessage, peers: Peers) => Promise<RpcMessage>

/** Options of {@link relay}. */
export interface RelayOptions {
  /** Handlers by method. */
  handlers: Readonly<Record<string, Handler>>
  /** Answers all other requests. Default: they pass to the server. */
  otherwise?: Handler
  /**
   * Called with each request and notification of the server. Returns the message for the client; null sends nothing.
   */
  fromServer(message: RpcMessage, help: FromServer): RpcMessage | null
  /** Returns why the server ended: the message for requests that it did not answer. */
  whyEnded(): string
}

/** How to respond to a message of the server. */
export interface FromServer {
  askClient: Ask
  answer(message: RpcMessage): void
}

const CANCELLED = { message: 'cancelled' }

/**
 * Passes messages between a client and a server. Requests with a handler are answered by it. When one side ends,
 * requests that the server did not answer get an error, and the other side is closed. If the server ends before the
 * first request, that request gets the error too, because clients show it as the reason.
 *
 * @returns Which side ended first.
 */
export async function relay(
  client: Channel,
  server: Channel,
  { handlers, otherwise, fromServer, whyEnded }: RelayOptions,
): Promise<'client' | 'server'> {
  /** The requests that the server has not answered, by id. */
  const asked = new Map<unknown, (answer: RpcMessage) => void>()
  /** byref's own requests that the client has not answered, by id. */
  const askedClient = new Map<unknown, (answer: RpcMessage) => void>()
  /** The requests that a handler is working on. */
  const working = new Map<unknown, AbortController>()
  const unsent = new Set<Promise<void>>()
  let hasRequests = false
  /** Resolves when the client has got an answer. */
  const answered = Promise.withResolvers<void>()
  /** Why the server ended; null before. */
  let reason: { message: string } | null = null

  function send(message: RpcMessage): void {
    const sent = reason ? Promise.reject(reason) : server.send(message)
    sent.catch((error) => take(failureOf(message, error)))
  }

  /** Sends to the client, if it is still connected. */
  async function report(message: RpcMessage): Promise<void> {
    await client.send(message).catch(() => {})
    if (message.method === undefined) answered.resolve()
  }

  function take(answer: RpcMessage): void {
    const waiting = asked.get(answer.id)
    asked.delete(answer.id)
    waiting?.(answer)
  }

  const ask: Ask = async (request) => {
    const { promise, resolve } = Promise.withResolvers<RpcMessage>()
    asked.set(request.id, resolve)
    send(request)
    return promise
  }

  async function askClient(request: RpcMessage, signal?: AbortSignal): Promise<RpcMessage> {
    if (signal?.aborted || reason) return failureOf(request, reason ?? CANCELLED)
    const { promise, resolve } = Promise.withResolvers<RpcMessage>()
    const id = `byref-${crypto.randomUUID()}`
    askedClient.set(id, resolve)
    signal?.addEventListener('abort', () => resolve(failureOf(request, CANCELLED)))
    await report({ ...request, id })
    return promise.finally(() => askedClient.delete(id))
  }

  async function handle(request: RpcMessage, handler: Handler): Promise<void> {
    const controller = new AbortController()
    const { signal } = controller
    working.set(request.id, controller)
    const peers: Peers = {
      ask,
      askClient: (one) => askClient(one, signal),
      signal,
      whyEnded: () => reason?.message ?? null,
    }
    const answer = await handler(request, peers).catch((error) => failureOf(request, error))
    if (signal.aborted) return
    working.delete(request.id)
    await report(answer)
  }

  /** Cancels a request. Returns whether the server knows of it. */
  function cancel(id: unknown): boolean {
    const isAsked = asked.has(id)
    const controller = working.get(id)
    working.delete(id)
    controller?.abort()
    if (controller) take(failureOf({ jsonrpc: '2.0', id: id as string }, CANCELLED))
    asked.delete(id)
    return isAsked
  }

  client.onmessage = (message) => {
    const { id, method = '', params } = message
    hasRequests ||= isRequest(message)
    const waiting = method === '' ? askedClient.get(id) : undefined
    if (waiting) return waiting(message)
    const handler = Object.hasOwn(handlers, method) ? handlers[method] : otherwise
    if (id !== undefined && method && handler) {
      const work = handle(message, handler).finally(() => unsent.delete(work))
      unsent.add(work)
      return
    }
    if (id !== undefined && method) asked.set(id, report)
    if (method !== 'notifications/cancelled' || cancel(params?.requestId)) send(message)
  }
  server.onmessage = (message) => {
    if (message.method === undefined) return take(message)
    const passing = fromServer(message, { askClient, answer: send })
    if (passing) inBackground('Notifying the client', report(passing))
  }
  const clientEnded = ended(client, 'client' as const)
  const serverEnded = ended(server, 'server' as const)
  await Promise.all([server.start(), client.start()])
  const first = await Promise.race([clientEnded, serverEnded])
  if (first === 'client') {
    await server.close()
    return first
  }
  reason = { message: whyEnded() }
  for (const [id, answer] of [...asked, ...askedClient]) {
    asked.delete(id)
    answer(failureOf({ jsonrpc: '2.0', id: id as string }, reason))
  }
  await Promise.race([clientEnded, hasRequests ? Promise.all(unsent) : answered.promise])
  await client.close()
  return first
}

function ended<Name>(channel: Channel, name: Name): Promise<Name> {
  return new Promise((resolve) => {
    channel.onclose = () => resolve(name)
  })
}

function isRequest({ id, method }: RpcMessage): boolean {
  return id !== undefined && method !== undefined
}
