import type {
  ApprovalAnswer,
  AssetDetails,
  AssetInfo,
  ConversationSummary,
  EventsPage,
  OutgoingMessage,
  RowsPage,
  SendOptions,
  SendResult,
  ServerInfo,
  UploadResult,
} from './api.ts'
import { ApiError } from './api-error.ts'
import { type AssetUrlOptions, assetPath, contentPath } from './asset-path.ts'
import { followConversation, type LiveConversation, type LiveOptions } from './live-conversation.ts'
import { request, requestJson, type Transport } from './request.ts'
import { type UploadOptions, upload } from './upload.ts'

/** Where the server is and how to talk to it. */
export interface ClientOptions {
  /** Such as `http://127.0.0.1:4114`; default: the page's own origin. */
  baseUrl?: string
  /** Sent as `authorization: Bearer …`. */
  token?: string
  /** Default: the platform's. */
  fetch?: typeof fetch
}

/** A page of a log: what comes after a position, `limit` records at most. */
export interface PageOptions {
  after?: number
  limit?: number
  signal?: AbortSignal
}

/**
 * byref's HTTP API, a method per route. What is refused throws {@link ApiError} with the server's code; what is missing
 * is null where a method says so.
 */
export interface Client {
  info(): Promise<ServerInfo>
  /** Newest first. */
  conversations(): Promise<ConversationSummary[]>
  createConversation(): Promise<{ id: string }>
  events(conversation: string, options?: PageOptions): Promise<EventsPage>
  /** Says something, which starts a run. Throws `conversation_busy` while one is going on, unless `ifBusy` is given. */
  send(conversation: string, message: OutgoingMessage, options?: SendOptions): Promise<SendResult>
  /**
   * Answers about a call that waits for a person. Throws `approval_answered` for one that does not (any more), and
   * `invalid_arguments` for changed arguments that its tool does not take.
   */
  approve(conversation: string, call: string, answer: ApprovalAnswer): Promise<void>
  /** Goes on with a run whose process is gone; false where nothing is under way. */
  resume(conversation: string): Promise<boolean>
  /** Stops the run; false when there was none. */
  cancel(conversation: string): Promise<boolean>
  /** Request and response of the step that wrote the message; null where there is none. */
  debug(conversation: string, message: string, options?: { signal?: AbortSignal }): Promise<unknown>
  upload(file: Blob, options?: UploadOptions): Promise<UploadResult>
  /** The newest assets; `limit` defaults to 200. */
  assets(options?: { limit?: number }): Promise<AssetInfo[]>
  /** An asset by reference or id; null when there is none. Throws `invalid_reference`. */
  asset(ref: string): Promise<AssetDetails | null>
  /** Where the body of an asset is, or the field that the reference or `path` names. Throws `invalid_reference`. */
  assetUrl(ref: string, options?: AssetUrlOptions): string
  /** The body, or the JSON of a field, to read as the caller likes. */
  assetContent(ref: string, options?: AssetUrlOptions & { signal?: AbortSignal }): Promise<Response>
  /** Rows of a table from `start` on, at most `limit` (500, up to 1,000), fewer where they are long. */
  assetRows(
    ref: string,
    options?: { start?: number; limit?: number; signal?: AbortSignal },
  ): Promise<RowsPage>
  /** Loads the conversation and follows it until `close()`. */
  conversation(
    id: string,
    options?: Pick<LiveOptions, 'notifyEvery' | 'idleTimeout' | 'retryDelay'>,
  ): LiveConversation
}

/** A client of the server at `baseUrl`, for browsers and Node. */
export function createClient(options: ClientOptions = {}): Client {
  const { baseUrl = '', token } = options
  const transport: Transport = {
    baseUrl: baseUrl.replace(/\/+$/, ''),
    fetch: options.fetch ?? ((input, init) => globalThis.fetch(input, init)),
    native: options.fetch === undefined,
    headers: token ? { authorization: `Bearer ${token}` } : {},
  }
  const client: Client = {
    info: () => requestJson(transport, '/api/info'),
    async conversations() {
      const answer = await requestJson<{ conversations: ConversationSummary[] }>(
        transport,
        '/api/conversations',
      )
      return answer.conversations
    },
    createConversation: () =>
      requestJson(transport, '/api/conversations', { method: 'POST', json: {} }),
    events: (conversation, { after = 0, limit = 500, signal } = {}) =>
      requestJson(transport, `${at(conversation)}/events?after=${after}&limit=${limit}`, {
        signal,
      }),
    send: (conversation, message, { ifBusy } = {}) =>
      requestJson(transport, `${at(conversation)}/messages`, {
        method: 'POST',
        json: { ...message, ifBusy },
      }),
    async approve(conversation, call, answer) {
      const path = `${at(conversation)}/calls/${encodeURIComponent(call)}/approval`
      await requestJson(transport, path, { method: 'POST', json: answer })
    },
    async resume(conversation) {
      const path = `${at(conversation)}/resume`
      const answer = await requestJson<{ resumed: boolean }>(transport, path, { method: 'POST' })
      return answer.resumed
    },
    async cancel(conversation) {
      const path = `${at(conversation)}/cancel`
      const answer = await requestJson<{ cancelled: boolean }>(transport, path, { method: 'POST' })
      return answer.cancelled
    },
    debug: (conversation, message, { signal } = {}) => {
      const path = `${at(conversation)}/messages/${encodeURIComponent(message)}/debug`
      return nullWhere('message_not_found', requestJson<unknown>(transport, path, { signal }))
    },
    upload: (file, uploadOptions) => upload(transport, file, uploadOptions),
    async assets({ limit = 200 } = {}) {
      const path = `/api/assets?limit=${limit}`
      return (await requestJson<{ assets: AssetInfo[] }>(transport, path)).assets
    },
    asset: async (ref) =>
      nullWhere('asset_not_found', requestJson<AssetDetails>(transport, assetPath(ref))),
    assetUrl: (ref, urlOptions = {}) => transport.baseUrl + contentPath(ref, urlOptions),
    assetContent: async (ref, { signal, ...urlOptions } = {}) =>
      request(transport, contentPath(ref, urlOptions), { signal }),
    assetRows: async (ref, { start = 0, limit = 500, signal } = {}) =>
      requestJson<RowsPage>(transport, `${assetPath(ref)}/rows?start=${start}&limit=${limit}`, {
        signal,
      }),
    conversation: (id, liveOptions = {}) =>
      followConversation(id, {
        ...liveOptions,
        loadPage: (after, signal) => client.events(id, { after, signal }),
        openStream: (after, signal) => openStream(transport, id, after, signal),
      }),
  }
  return client
}

function at(conversation: string): string {
  return `/api/conversations/${encodeURIComponent(conversation)}`
}

async function openStream(
  transport: Transport,
  conversation: string,
  after: number,
  signal: AbortSignal,
): Promise<ReadableStream<Uint8Array>> {
  const headers = { accept: 'text/event-stream', 'last-event-id': String(after) }
  const path = `${at(conversation)}/stream?after=${after}`
  const response = await request(transport, path, { headers, signal })
  if (response.body && response.headers.get('content-type')?.includes('text/event-stream')) {
    return response.body
  }
  const message = 'The server answered with something else than events. Is it byref?'
  throw new ApiError(response.status, 'unexpected_response', message)
}

async function nullWhere<T>(code: string, answer: Promise<T>): Promise<T | null> {
  try {
    return await answer
  } catch (error) {
    if (error instanceof ApiError && error.code === code) return null
    throw error
  }
}
