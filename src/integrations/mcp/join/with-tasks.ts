import type { Transport } from '@modelcontextprotocol/client'
import { inBackground } from '../../../core/in-background.ts'
import { isPlainObject } from '../../../core/json/json.ts'
import { nodeBuiltin } from '../../../node-builtin.ts'
import {
  type Channel,
  CUT_OFF,
  failureOf,
  INTERNAL_ERROR,
  type RpcMessage,
} from '../rpc/json-rpc.ts'

const { setTimeout: sleep } = nodeBuiltin('node:timers/promises')

/** A transport of the MCP SDK, or a channel. */
export type ServerTransport = (Transport | Channel) & { whyEnded?(): string }

/** The extension of the protocol, as clients declare it (SEP-2663). */
export const TASKS = { 'io.modelcontextprotocol/tasks': {} } as const

/**
 * Pause between two requests for the state of a task, in milliseconds: usual, and the limits of what a server asks for.
 */
const PAUSE = { usual: 1_000, least: 50, most: 30_000 }
const STATE = 'byref-task:'

type Send = (message: RpcMessage, options?: unknown) => Promise<void>
type Request = RpcMessage & { id: string | number }

/** The state of a call that the server runs as a task. */
type TaskState = { taskId: string; [key: string]: unknown }

/**
 * Lets a client call tools that run as tasks, as if they were long calls. It asks for the state of the task
 * until it ends, passes the server's status on as progress, and its questions as questions about the call. The client
 * must declare {@link TASKS} in its `extensions`.
 *
 * @returns The same transport.
 */
export function withTasks<One extends ServerTransport>(transport: One): One {
  new TaskTransport(transport).attach()
  return transport
}

class TaskTransport {
  readonly #transport: ServerTransport
  readonly #send: Send
  /** Calls that the server has not answered, by the id of the request. */
  readonly #calls = new Map<unknown, Request>()
  /** Aborts the running tasks, by the id of the request. */
  readonly #running = new Map<unknown, AbortController>()
  /** byref's own requests that the server has not answered. */
  readonly #asked = new Map<unknown, (answer: RpcMessage) => void>()
  #listener: ((message: RpcMessage) => void) | undefined

  constructor(transport: ServerTransport) {
    this.#transport = transport
    this.#send = transport.send.bind(transport) as Send
  }

  /** Stands between the transport and the client. */
  attach(): void {
    const transport = this.#transport
    const received = (message: RpcMessage) => this.#received(message)
    Object.defineProperty(transport, 'onmessage', {
      configurable: true,
      get: () => (this.#listener ? received : undefined),
      set: (listener?: (message: RpcMessage) => void) => {
        if (listener !== received) this.#listener = listener
      },
    })
    transport.send = (message: unknown, options?: unknown) => {
      const one = message as RpcMessage
      const state = one.params?.requestState
      if (typeof state === 'string' && state.startsWith(STATE)) return this.#goOn(one as Request)
      this.#cancelled(one)
      if (one.method !== 'tools/call') return this.#send(one, options)
      this.#calls.set(one.id, one as Request)
      return this.#send(one, { ...Object(options), onRequestStreamEnd: () => this.#ended(one) })
    }
  }

  /** Answers a call, if a server at a URL has not done so before the end of its stream. */
  #ended(request: RpcMessage): void {
    if (!this.#calls.delete(request.id)) return
    this.#listener?.(failureOf(request, new Error(`The server ${CUT_OFF}`)))
  }

  #received(message: RpcMessage): void {
    const { id, result } = message
    const isAnswer = message.method === undefined
    const asked = isAnswer ? this.#asked.get(id) : undefined
    const request = isAnswer ? this.#calls.get(id) : undefined
    if (isAnswer) this.#calls.delete(id)
    const { resultType, taskId } = Object(result)
    const isTask = resultType === 'task' && typeof taskId === 'string'
    if (asked) asked(message)
    else if (request && isTask) this.#follow(request, { ...result, taskId })
    else this.#listener?.(message)
  }

  /** Answers the questions of a task, and follows it with the new request. */
  async #goOn(request: Request): Promise<void> {
    const { requestState, inputResponses } = Object(request.params)
    const taskId = String(requestState).slice(STATE.length)
    const updated = await this.#ask(request, 'tasks/update', { taskId, inputResponses })
    if (updated.error) this.#listener?.({ ...updated, id: request.id })
    else this.#follow(request, { taskId })
  }

  /** Answers a request when its task ends. */
  #follow(request: Request, state: TaskState): void {
    const controller = new AbortController()
    this.#running.set(request.id, controller)
    const { signal } = controller
    const { taskId } = state
    const cancel = () =>
      inBackground('Cancelling a task', this.#ask(request, 'tasks/cancel', { taskId }))
    signal.addEventListener('abort', cancel, { once: true })
    const followed = this.#untilEnd(request, state, signal)
      .catch((error) => failureOf(request, error))
      .then((answer) => {
        this.#running.delete(request.id)
        if (!signal.aborted) this.#listener?.(answer)
      })
    inBackground('Following a task of an MCP server', followed)
  }

  /** Returns the answer to a call when its task ends or has a question. */
  async #untilEnd(
    request: Request,
    { taskId, ...first }: TaskState,
    signal: AbortSignal,
  ): Promise<RpcMessage> {
    let state: Record<string, unknown> = first
    let reported: unknown
    for (let step = 1; ; step++) {
      const { statusMessage } = state
      if (statusMessage !== reported && typeof statusMessage === 'string') {
        reported = statusMessage
        this.#report(request, { progress: step, message: statusMessage })
      }
      await sleep(pauseOf(state), undefined, { signal, ref: false })
      const answer = await this.#ask(request, 'tasks/get', { taskId })
      if (!isPlainObject(answer.result)) return { ...answer, id: request.id }
      state = answer.result
      const ended = endOf(state, taskId)
      if (ended) return { jsonrpc: '2.0', id: request.id, ...ended }
    }
  }

  #report(request: Request, progress: object): void {
    const { progressToken } = Object(request.params?._meta)
    if (progressToken === undefined) return
    const params = { ...progress, progressToken }
    this.#listener?.({ jsonrpc: '2.0', method: 'notifications/progress', params })
  }

  /** Ends a task whose call is cancelled, and forgets a cancelled call, which servers do not answer. */
  #cancelled({ method, params }: RpcMessage): void {
    if (method !== 'notifications/cancelled') return
    this.#running.get(params?.requestId)?.abort()
    this.#calls.delete(params?.requestId)
  }

  #ask({ params }: Request, method: string, own: object): Promise<RpcMessage> {
    const id = `byref-${crypto.randomUUID()}`
    const { promise, resolve } = Promise.withResolvers<RpcMessage>()
    this.#asked.set(id, resolve)
    const { progressToken: _, ...meta } = Object(params?._meta)
    const request = { jsonrpc: '2.0', id, method, params: { ...own, _meta: meta } } as const
    this.#send(request).catch((error) => resolve(failureOf(request, error)))
    return promise.finally(() => this.#asked.delete(id))
  }
}

function pauseOf({ pollIntervalMs }: Record<string, unknown>): number {
  const wanted = typeof pollIntervalMs === 'number' ? pollIntervalMs : PAUSE.usual
  return Math.min(PAUSE.most, Math.max(PAUSE.least, wanted))
}

/** Returns the rest of the answer to a call, from the state of its task. Null while the task works. */
function endOf(
  { status, result, error, inputRequests }: Record<string, unknown>,
  id: string,
): Pick<RpcMessage, 'result' | 'error'> | null {
  if (status === 'completed') return { result: { resultType: 'complete', ...Object(result) } }
  if (status === 'input_required') {
    const requestState = `${STATE}${id}`
    return { result: { resultType: 'input_required', inputRequests, requestState } }
  }
  if (status === 'working') return null
  const { code = INTERNAL_ERROR, message = `The task is ${status}` } = Object(error)
  return { error: { code, message } }
}
