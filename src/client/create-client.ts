import {
  checkMethods,
  checkOptions,
  is,
  type MethodTables,
  type OptionTable,
} from '../core/check-options.ts'
import type * as wire from '../wire/types.ts'
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

/** How a message is said. */
export interface SendOptions {
  /**
   * During a run: `queue` waits for a run of its own, `steer` for the next step of the run. Absent: `conversation_busy`
   * is thrown.
   */
  ifBusy?: 'queue' | 'steer'
  /** Which agent answers. */
  agent?: string
}

/** A page of a log: what comes after a position, `limit` records at most. */
export interface PageOptions {
  after?: number
  limit?: number
  signal?: AbortSignal
}

/** Which rows of a table. */
export interface RowsOptions {
  offset?: number
  limit?: number
  columns?: readonly string[]
  /** A column, with `-` before it for the largest first. */
  sort?: string
  where?: readonly wire.RowCondition[]
  signal?: AbortSignal
}

/**
 * byref's HTTP API, a method per route. What is refused throws {@link ApiError} with the server's code; what is missing
 * is null where a method says so.
 */
export interface Client {
  info(): Promise<wire.ServerInfo>
  /** Last changed first, by pages. */
  conversations(options?: wire.ConversationsQuery): Promise<wire.ConversationsPage>
  /** How a conversation stands; null where there is none. */
  conversationSummary(id: string): Promise<wire.ConversationSummary | null>
  createConversation(options?: wire.NewConversation): Promise<{ id: string }>
  /** Names it; null gives it its own title again. */
  renameConversation(id: string, title: string | null): Promise<wire.ConversationSummary>
  deleteConversation(id: string): Promise<void>
  /** A conversation that begins as this one does, up to the message `at`. */
  forkConversation(id: string, options?: wire.ForkAsk): Promise<{ id: string }>
  /** The whole conversation as lines of JSON (docs/conversation-log.md); with debug data for owners. */
  exportConversation(
    id: string,
    options?: { debug?: boolean; signal?: AbortSignal },
  ): Promise<Response>
  /** Makes a conversation of an export. */
  importConversation(lines: Blob | string, options?: { id?: string }): Promise<{ id: string }>
  /** Messages by pages; without a cursor the last ones. */
  messages(conversation: string, options?: wire.MessagesQuery): Promise<wire.MessagesPage>
  /** Says a person's message again in a fork, as it was or with other content. */
  retry(
    conversation: string,
    message: string,
    options?: { content?: unknown },
  ): Promise<wire.RetryResult>
  /**
   * Takes a message's content away; its record stays in the log. Throws `conversation_busy` during a run, and
   * `message_not_found`.
   */
  deleteMessage(conversation: string, message: string): Promise<void>
  /** The data of a conversation, now or after a message. */
  data(conversation: string, options?: { at?: string }): Promise<wire.BoardEntryInfo[]>
  /** Writes data as a person does. */
  editData(conversation: string, edit: wire.DataEdit): Promise<{ messageId: string }>
  events(conversation: string, options?: PageOptions): Promise<wire.EventsPage>
  /** Says something, which starts a run. Throws `conversation_busy` while one is going on, unless `ifBusy` is given. */
  send(
    conversation: string,
    message: wire.OutgoingMessage,
    options?: SendOptions,
  ): Promise<wire.SendResult>
  /**
   * Answers about a call that waits for a person. Throws `approval_answered` for one that does not (any more), and
   * `invalid_arguments` for changed arguments that its tool does not take.
   */
  approve(conversation: string, call: string, answer: wire.ApprovalAnswer): Promise<void>
  /** Goes on with a run whose process is gone; false where nothing is under way. */
  resume(conversation: string): Promise<boolean>
  /** Stops the run; false when there was none. */
  cancel(conversation: string): Promise<boolean>
  /** Request and response of the step that wrote the message; null where there is none. */
  debug(conversation: string, message: string, options?: { signal?: AbortSignal }): Promise<unknown>
  /** What the model was given for an answer, and what is new beside the one before, or `against`; null where none was asked. */
  prompt(
    conversation: string,
    message: string,
    options?: { against?: string },
  ): Promise<wire.PromptInfo | null>
  /**
   * Where a value came from and what came of it: of `†…` as it is now, of `asset://…`, of `call:<id>` and `message:<id>`;
   * null for what names nothing there.
   */
  lineage(conversation: string, ref: string): Promise<wire.LineageInfo | null>
  /** The labels of what is not trusted and public; of messages those behind a position. */
  labels(conversation: string, options?: { after?: number }): Promise<wire.LabelsInfo>
  upload(file: Blob, options?: UploadOptions): Promise<wire.UploadResult>
  /** Assets by pages, newest first. */
  assets(options?: { limit?: number; cursor?: string }): Promise<wire.AssetsPage>
  deleteAsset(ref: string): Promise<void>
  /** A page of a table's rows. */
  rows(ref: string, options?: RowsOptions): Promise<wire.RowsPage>
  /** Asks tables by SQL; the result is a table. Throws `dependency_missing` where the server has no SQL. */
  query(query: {
    sql: string
    tables?: Record<string, string>
    name?: string
  }): Promise<wire.AssetInfo>
  /** An address of an asset that needs no token until it expires. */
  signAsset(
    ref: string,
    options?: { expiresIn?: number; path?: string; download?: boolean },
  ): Promise<wire.SignedUrl>
  /** Keeps the token as a cookie of the page's browser, for its pictures and streams. */
  openSession(token: string): Promise<void>
  closeSession(): Promise<void>
  /** An asset by reference or id; null when there is none. Throws `invalid_reference`. */
  asset(ref: string): Promise<wire.AssetDetails | null>
  /** Where the body of an asset is, or the field that the reference or `path` names. Throws `invalid_reference`. */
  assetUrl(ref: string, options?: AssetUrlOptions): string
  /** The body, or the JSON of a field, to read as the caller likes. */
  assetContent(ref: string, options?: AssetUrlOptions & { signal?: AbortSignal }): Promise<Response>
  /** Loads the conversation and follows it until `close()`. */
  conversation(
    id: string,
    options?: Pick<LiveOptions, 'firstPage' | 'notifyEvery' | 'idleTimeout' | 'retryDelay'>,
  ): LiveConversation
}

const CLIENT_OPTIONS: OptionTable<ClientOptions> = {
  ...is.all(is.string, 'baseUrl', 'token'),
  fetch: is.callback(),
}

const ASSET_URL: OptionTable<AssetUrlOptions> = {
  path: is.listOf(is.anything),
  download: is.boolean,
}

/** Options of the methods. Ranges and contents are checked by the server. */
const CLIENT_METHODS: MethodTables<Client> = {
  conversations: { 0: { limit: is.number, ...is.all(is.string, 'cursor', 'search') } },
  createConversation: { 0: is.all(is.string, 'id', 'title') },
  forkConversation: { 1: is.all(is.string, 'at', 'id') },
  exportConversation: { 1: { debug: is.boolean, signal: is.signal } },
  importConversation: { 1: { id: is.string } },
  messages: { 1: is.all(is.number, 'after', 'before', 'limit') },
  retry: { 2: { content: is.anything } },
  data: { 1: { at: is.string } },
  events: { 1: { ...is.all(is.number, 'after', 'limit'), signal: is.signal } },
  send: { 2: { ifBusy: is.oneOf('queue', 'steer'), agent: is.string } },
  approve: {
    2: {
      approved: is.required(is.boolean),
      reason: is.string,
      ...is.all(is.anything, 'arguments', 'result'),
    },
  },
  debug: { 2: { signal: is.signal } },
  prompt: { 2: { against: is.string } },
  labels: { 1: { after: is.number } },
  upload: {
    1: {
      ...is.all(is.string, 'name', 'mimeType'),
      ...is.all(is.positive, 'pieceBytes', 'retryDelay'),
      onProgress: is.callback(),
      onImport: is.callback(),
      signal: is.signal,
    },
  },
  assets: { 0: { limit: is.number, cursor: is.string } },
  rows: {
    1: {
      ...is.all(is.number, 'offset', 'limit'),
      columns: is.listOf(is.string),
      sort: is.string,
      where: is.listOf(
        is.group({ ...is.all(is.required(is.anything), 'column', 'is'), to: is.anything }),
      ),
      signal: is.signal,
    },
  },
  query: {
    0: { sql: is.required(is.string), tables: is.having('names of references'), name: is.string },
  },
  signAsset: { 1: { expiresIn: is.number, path: is.string, download: is.boolean } },
  assetUrl: { 1: ASSET_URL, throws: true },
  assetContent: { 1: { ...ASSET_URL, signal: is.signal } },
  conversation: {
    1: {
      firstPage: is.anything,
      ...is.all(is.notNegative, 'notifyEvery', 'idleTimeout', 'retryDelay'),
    },
    throws: true,
  },
}

/** A client of the server at `baseUrl`, for browsers and Node. */
export function createClient(options: ClientOptions = {}): Client {
  checkOptions('createClient', options, CLIENT_OPTIONS)
  const { baseUrl = '', token } = options
  const transport: Transport = {
    baseUrl: baseUrl.replace(/\/+$/, ''),
    fetch: options.fetch ?? ((input, init) => globalThis.fetch(input, init)),
    native: options.fetch === undefined,
    headers: token ? { authorization: `Bearer ${token}` } : {},
  }
  const client: Client = {
    info: () => requestJson(transport, '/api/info'),
    conversations: (query) => requestJson(transport, `/api/conversations${queryOf(query)}`),
    conversationSummary: (id) =>
      nullWhere('conversation_not_found', requestJson<wire.ConversationSummary>(transport, at(id))),
    createConversation: (options = {}) =>
      requestJson(transport, '/api/conversations', { method: 'POST', json: options }),
    renameConversation: (id, title) =>
      requestJson(transport, at(id), { method: 'PATCH', json: { title } }),
    async deleteConversation(id) {
      await request(transport, at(id), { method: 'DELETE' })
    },
    forkConversation: (id, options = {}) =>
      requestJson(transport, `${at(id)}/fork`, { method: 'POST', json: options }),
    exportConversation: (id, { signal, ...options } = {}) =>
      request(transport, `${at(id)}/export${queryOf(options)}`, { signal }),
    importConversation: (lines, options) =>
      requestJson(transport, `/api/conversations/import${queryOf(options)}`, {
        method: 'POST',
        body: lines,
        headers: { 'content-type': 'application/x-ndjson' },
      }),
    messages: (conversation, options) =>
      requestJson(transport, `${at(conversation)}/messages${queryOf(options)}`),
    retry: (conversation, message, options = {}) =>
      requestJson(transport, `${at(conversation)}/messages/${encodeURIComponent(message)}/retry`, {
        method: 'POST',
        json: options,
      }),
    async deleteMessage(conversation, message) {
      const path = `${at(conversation)}/messages/${encodeURIComponent(message)}`
      await request(transport, path, { method: 'DELETE' })
    },
    async data(conversation, options) {
      const path = `${at(conversation)}/data${queryOf(options)}`
      return (await requestJson<{ entries: wire.BoardEntryInfo[] }>(transport, path)).entries
    },
    editData: (conversation, edit) =>
      requestJson(transport, `${at(conversation)}/data`, { method: 'POST', json: edit }),
    events: (conversation, { after = 0, limit = 500, signal } = {}) =>
      requestJson(transport, `${at(conversation)}/events?after=${after}&limit=${limit}`, {
        signal,
      }),
    send: (conversation, message, { ifBusy, agent } = {}) =>
      requestJson(transport, `${at(conversation)}/messages`, {
        method: 'POST',
        json: { ...message, ifBusy, agent },
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
    prompt: (conversation, message, options) => {
      const path = `${at(conversation)}/prompts/${encodeURIComponent(message)}${queryOf(options)}`
      return nullWhere('message_not_found', requestJson<wire.PromptInfo>(transport, path))
    },
    lineage: (conversation, ref) =>
      nullWhere(
        'variable_not_found',
        requestJson<wire.LineageInfo>(transport, `${at(conversation)}/lineage${queryOf({ ref })}`),
      ),
    labels: (conversation, options) =>
      requestJson(transport, `${at(conversation)}/labels${queryOf(options)}`),
    upload: (file, uploadOptions) => upload(transport, file, uploadOptions),
    assets: (options) => requestJson(transport, `/api/assets${queryOf(options)}`),
    async deleteAsset(ref) {
      await request(transport, assetPath(ref), { method: 'DELETE' })
    },
    rows: (ref, { columns, where, signal, ...page } = {}) => {
      const query = queryOf({
        ...page,
        ...(columns ? { columns: JSON.stringify(columns) } : {}),
        ...(where ? { where: JSON.stringify(where) } : {}),
      })
      return requestJson(transport, `${assetPath(ref)}/rows${query}`, { signal })
    },
    async query(query) {
      const made = await requestJson<{ asset: wire.AssetInfo }>(transport, '/api/query', {
        method: 'POST',
        json: query,
      })
      return made.asset
    },
    async signAsset(ref, options = {}) {
      const signed = await requestJson<wire.SignedUrl>(transport, `${assetPath(ref)}/sign`, {
        method: 'POST',
        json: options,
      })
      return { ...signed, url: transport.baseUrl + signed.url }
    },
    async openSession(token) {
      await request(transport, '/api/session', { method: 'POST', json: { token } })
    },
    async closeSession() {
      await request(transport, '/api/session', { method: 'DELETE' })
    },
    asset: async (ref) =>
      nullWhere('asset_not_found', requestJson<wire.AssetDetails>(transport, assetPath(ref))),
    assetUrl: (ref, urlOptions = {}) => transport.baseUrl + contentPath(ref, urlOptions),
    assetContent: async (ref, { signal, ...urlOptions } = {}) =>
      request(transport, contentPath(ref, urlOptions), { signal }),
    conversation: (id, liveOptions = {}) =>
      followConversation(id, {
        ...liveOptions,
        loadPage: (after, signal) => client.events(id, { after, limit: 1000, signal }),
        openStream: (after, signal) => openStream(transport, id, after, signal),
      }),
  }
  return checkMethods('client', client, CLIENT_METHODS)
}

function at(conversation: string): string {
  return `/api/conversations/${encodeURIComponent(conversation)}`
}

/** The query of a request, without what is undefined. */
function queryOf(values: object = {}): string {
  const entries = Object.entries(values).flatMap(([key, value]) =>
    value === undefined || value === null ? [] : [[key, String(value)] as [string, string]],
  )
  return entries.length > 0 ? `?${new URLSearchParams(entries)}` : ''
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
