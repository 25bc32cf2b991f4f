import { ByrefError } from '../../../core/errors.ts'
import type { ServerConnection } from './server-connection.ts'

/** A question that a server asks the client. */
export interface Question {
  method: string
  params: unknown
}

/** A request that a server works on. */
interface OpenCall<Result> {
  connection: ServerConnection
  result: Promise<{ result: Result }>
  questions: { question: Question; answer(response: unknown): void }[]
  /** Signals that the server has asked a question. */
  wake(): void
  cancel(): void
}

/** A result, or a question that the client must answer first. */
export type Round<Result> = { result: Result } | { question: Question; state: string }

/** Maximum number of open calls that wait for an answer. The oldest are cancelled first. */
const MAX_WAITING = 100

/**
 * Requests that servers interrupt with questions, for clients of 2026-07-28. Such a client gets the question as an
 * answer, and sends the request again with the response of its person or model. Meanwhile the server waits.
 */
export class OpenCalls {
  readonly #running = new Set<OpenCall<unknown>>()
  /** Calls whose question was sent to the client, by the state that the client sends back. */
  readonly #waiting = new Map<string, OpenCall<unknown>>()

  /** Runs a request until it ends or has a question. */
  async begin<Result>(
    connection: ServerConnection,
    work: (signal: AbortSignal) => Promise<Result>,
    signal: AbortSignal,
  ): Promise<Round<Result>> {
    const cancelled = new AbortController()
    const result = work(cancelled.signal).then((one) => ({ result: one }))
    const cancel = () => cancelled.abort()
    const call: OpenCall<Result> = { connection, result, questions: [], wake() {}, cancel }
    this.#running.add(call)
    const end = () => this.#running.delete(call)
    result.then(end, end)
    return this.#next(call, signal)
  }

  /**
   * Continues a request whose question was answered.
   *
   * @throws ByrefError `invalid_arguments` for an unknown state
   */
  async goOn<Result>(
    state: string,
    response: unknown,
    signal: AbortSignal,
  ): Promise<Round<Result>> {
    const call = this.#waiting.get(state) as OpenCall<Result> | undefined
    this.#waiting.delete(state)
    if (!call) throw new ByrefError('invalid_arguments', 'This request has ended. Send it again')
    call.questions.shift()?.answer(response)
    return this.#next(call, signal)
  }

  /**
   * Passes a question on with the newest request that its server works on.
   *
   * @throws ByrefError `call_denied` without such a request
   */
  ask(connection: ServerConnection, question: Question): Promise<unknown> {
    const call = [...this.#running].findLast((one) => one.connection === connection)
    if (!call) {
      const message = 'The client can only be asked while it waits for an answer'
      throw new ByrefError('call_denied', message)
    }
    const { promise, resolve } = Promise.withResolvers<unknown>()
    call.questions.push({ question, answer: resolve })
    call.wake()
    return promise
  }

  async #next<Result>(call: OpenCall<Result>, signal: AbortSignal): Promise<Round<Result>> {
    const cancel = () => call.cancel()
    signal.addEventListener('abort', cancel)
    try {
      if (signal.aborted) cancel()
      const asked = Promise.withResolvers<null>()
      call.wake = () => asked.resolve(null)
      if (call.questions.length > 0) call.wake()
      const ended = await Promise.race([call.result, asked.promise])
      const [waiting] = call.questions
      if (ended || !waiting) return ended ?? (await call.result)
      const state = crypto.randomUUID()
      this.#waiting.set(state, call)
      for (const [old, one] of [...this.#waiting].slice(0, -MAX_WAITING)) {
        this.#waiting.delete(old)
        one.cancel()
      }
      return { question: waiting.question, state }
    } finally {
      signal.removeEventListener('abort', cancel)
    }
  }
}
