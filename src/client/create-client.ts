import { called } from '../core/called.ts'
import {
  checkMethods,
  checkOptions,
  is,
  type MethodTables,
  type OptionTable,
} from '../core/check-options.ts'
import { ByrefError } from '../core/errors.ts'
import type * as wire from '../wire/types.ts'
import { type AssetUrlOptions, assetPath, contentPath } from './asset-path.ts'
import { followStream } from './follow-stream.ts'
import { followConversation, type LiveConversation, type LiveOptions } from './live-conversation.ts'
import { ApiError, request, requestJson, type Transport } from './transport.ts'
import { type UploadOptions, upload } from './upload.ts'

type TokenSource = () => string | undefined | Promise<string | undefined>

/** Options of {@link createClient}. */
export interface ClientOptions {
  /** The URL of the server, such as `http://127.0.0.1:4114`. Default: the origin of the page. */
  baseUrl?: string
  /**
   * Sent as `authorization: Bearer …`. A function is called for each request, and each time that a stream connects, so
   * that it can return a new token before the old one expires. Undefined sends none.
   */
  token?: string | TokenSource
  /** Default: the platform's `fetch`. */
  fetch?: typeof fetch
}

/** Options of {@link Client.send}. */
export interface SendOptions {
  /**
   * What to do during a run: `queue` waits for a new run, `steer` for the next step of the run. Without it,
   * `conversation_busy` is thrown.
   */
  ifBusy?: 'queue' | 'steer'
  /** The name of the agent that answers. */
  agent?: string
}

/** A page of a log: at most `limit` records after a position. */
export interface PageOptions {
  after?: number
  limit?: number
  signal?: AbortSignal
}

/** Options of {@link Client.rows}. */
export interface RowsOptions {
  offset?: number
  limit?: number
  columns?: readonly string[]
  /** The name of a column; with `-` before it, the largest value comes first. */
  sort?: string
  where?: readonly wire.RowCondition[]
  signal?: AbortSignal
}

/** A change of the list of conversations. `reset`: changes may have been missed, so read the list again. */
export type ConversationChange =
  | { type: 'changed'; conversation: wire.ConversationSummary }
  | { type: 'deleted'; id: string }
  | { type: 'reset' }

/**
 * byref's HTTP API, one method per route. An error response throws {@link ApiError} with the server's code. Something
 * missing is null if a method says so.
 */
export interface Client {
  /** The URL of the server, without a slash at the end. Empty for the origin of the page. */
  readonly url: string
  info(): Promise<wire.ServerInfo>
  /** Returns the tools of an agent; with a `query`, those that `search_tools` finds by it, best first. */
  tools(options?: wire.ToolsQuery): Promise<wire.ToolsList>
  /** Returns a tool of an agent with its parameters; null for an unknown one. */
  tool(name: string, options?: { agent?: string }): Promise<wire.ToolInfo | null>
  /** Returns a page of conversations, last changed first. */
  conversations(options?: wire.ConversationsQuery): Promise<wire.ConversationsPage>
  /** Returns the summary of a conversation; null for an unknown one. */
  conversationSummary(id: string): Promise<wire.ConversationSummary | null>
  /** Returns a page of runs of all conversations, newest first. */
  runs(options?: wire.RunsQuery): Promise<wire.RunsPage>
  /** Returns what runs cost, by period and by model or agent. */
  costs(options?: wire.CostsQuery): Promise<wire.CostSum[]>
  createConversation(options?: wire.NewConversation): Promise<{ id: string }>
  /** Sets the title; null restores the conversation's own title. */
  renameConversation(id: string, title: string | null): Promise<wire.ConversationSummary>
  deleteConversation(id: string): Promise<void>
  /** Creates a conversation with the messages of this one, up to the message `at`. */
  forkConversation(id: string, options?: wire.ForkAsk): Promise<{ id: string }>
  /**
   * Returns the whole conversation as lines of JSON (docs/reference/conversation-log.md); with debug data for owners.
   */
  exportConversation(
    id: string,
    options?: { debug?: boolean; signal?: AbortSignal },
  ): Promise<Response>
  /**
   * Creates a conversation from an export. An open run ends with an error, because the original may continue it.
   * `resume` leaves it open: use it only if nothing else continues the original.
   */
  importConversation(
    lines: Blob | string,
    options?: { id?: string; resume?: boolean },
  ): Promise<{ id: string }>
  /** Returns a page of messages; without a cursor, the last ones. */
  messages(conversation: string, options?: wire.MessagesQuery): Promise<wire.MessagesPage>
  /**
   * Sends a person's message again in a fork, unchanged or with other content. `agent` names the agent that answers.
   */
  retry(
    conversation: string,
    message: string,
    options?: { content?: unknown; agent?: string },
  ): Promise<wire.RetryResult>
  /**
   * Deletes the content of a message; its record stays in the log. Throws `conversation_busy` during a run, and
   * `message_not_found`.
   */
  deleteMessage(conversation: string, message: string): Promise<void>
  /** Returns the data of a conversation, now or after a message. */
  data(conversation: string, options?: { at?: string }): Promise<wire.BoardEntryInfo[]>
  /** Writes data, as an edit by a person. */
  editData(conversation: string, edit: wire.DataEdit): Promise<{ messageId: string }>
  events(conversation: string, options?: PageOptions): Promise<wire.EventsPage>
  /** Sends a message, which starts a run. During a run it throws `conversation_busy`, unless `ifBusy` is given. */
  send(
    conversation: string,
    message: wire.OutgoingMessage,
    options?: SendOptions,
  ): Promise<wire.SendResult>
  /**
   * Approves or denies a call that waits for approval. Throws `call_not_found` for an unknown call, `approval_answered`
   * for a call that does not wait, and `invalid_arguments` for changed arguments that the tool does not accept.
   */
  approve(conversation: string, call: string, answer: wire.ApprovalAnswer): Promise<void>
  /** Resumes a run whose process ended; false if nothing is due. */
  resume(conversation: string): Promise<boolean>
  /**
   * Cancels the run; false if there was none. Queued messages are answered next, unless `discardQueued` deletes them.
   * With `runId`, cancels only that run, also if it is still queued.
   */
  cancel(conversation: string, options?: wire.CancelAsk): Promise<boolean>
  /** Returns the request and the response of the step that wrote the message; null if there is none. */
  debug(conversation: string, message: string, options?: { signal?: AbortSignal }): Promise<unknown>
  /**
   * Returns the prompt of an answer, compared with the answer before, or with `against`; null for a message without a
   * prompt.
   */
  prompt(
    conversation: string,
    message: string,
    options?: { against?: string },
  ): Promise<wire.PromptInfo | null>
  /**
   * Returns where a value came from and where it was used: `†…` as it is now, `asset://…`, `call:<id>` or
   * `message:<id>`. Null for an unknown value.
   */
  lineage(conversation: string, ref: string): Promise<wire.LineageInfo | null>
  /** Returns the labels of everything untrusted or private; of messages only those after a position. */
  labels(conversation: string, options?: { after?: number }): Promise<wire.LabelsInfo>
  upload(file: Blob, options?: UploadOptions): Promise<wire.UploadResult>
  /** Returns a page of assets, newest first. */
  assets(options?: { limit?: number; cursor?: string }): Promise<wire.AssetsPage>
  deleteAsset(ref: string): Promise<void>
  /** Returns a page of a table's rows. */
  rows(ref: string, options?: RowsOptions): Promise<wire.RowsPage>
  /**
   * Edits an asset, or the field at `path` in it, and returns the new version. Throws `edit_rejected` for an edit that
   * does not fit.
   */
  edit(
    ref: string,
    edits: wire.EditBody['edits'],
    options?: Omit<wire.EditBody, 'edits'>,
  ): Promise<wire.EditedAsset>
  /** Returns the versions of an asset, oldest first. */
  versions(ref: string): Promise<wire.AssetInfo[]>
  /** Queries tables with SQL; the result is a table. Throws `dependency_missing` if the server has no SQL. */
  query(query: {
    sql: string
    tables?: Record<string, string>
    name?: string
  }): Promise<wire.AssetInfo>
  /** Returns a URL of an asset that needs no token until it expires. */
  signAsset(
    ref: string,
    options?: { expiresIn?: number; path?: string; download?: boolean },
  ): Promise<wire.SignedUrl>
  /** Keeps the token as a cookie of the browser, for images and streams. */
  openSession(token: string): Promise<void>
  closeSession(): Promise<void>
  /** Returns an asset by reference or id; null for an unknown one. Throws `invalid_reference`. */
  asset(ref: string): Promise<wire.AssetDetails | null>
  /**
   * Returns the URL of an asset's body, or of the field that the reference or `path` names. Throws `invalid_reference`.
   */
  assetUrl(ref: string, options?: AssetUrlOptions): string
  /** Returns the body, or the JSON of a field, as a response. */
  assetContent(ref: string, options?: AssetUrlOptions & { signal?: AbortSignal }): Promise<Response>
  /**
   * Follows the list of conversations until the signal is aborted, and connects again after interruptions. With
   * `whileVisible`, a hidden page ends its connection. Rejects if the server refuses the connection, and with what
   * `onChange` throws.
   */
  followConversations(
    onChange: (change: ConversationChange) => void,
    options: { signal: AbortSignal } & Pick<LiveOptions, 'whileVisible'>,
  ): Promise<void>
  /** Loads the conversation and follows it until `close()`. */
  conversation(
    id: string,
    options?: Pick<
      LiveOptions,
      'firstPage' | 'notifyEvery' | 'idleTimeout' | 'retryDelay' | 'whileVisible'
    >,
  ): LiveConversation
}

const BASE_URL = is.checked<string>('an http URL, or a path for browsers', (value) => {
  return typeof value === 'string' && (/^(?:\/|$)/.test(value) || /^https?:\/\/./i.test(value))
})

const CLIENT_OPTIONS: OptionTable<ClientOptions> = {
  baseUrl: called(BASE_URL, 'url'),
  token: is.either(is.string, is.callback<TokenSource>()),
  fetch: is.callback(),
}

const ASSET_URL: OptionTable<AssetUrlOptions> = {
  path: is.listOf(is.anything),
  download: is.boolean,
}

const RUN_FILTER = {
  ...is.all(is.string, 'agent', 'model', 'tool', 'conversation', 'since', 'until'),
  status: is.oneOf('running', 'waiting', 'finished', 'failed', 'cancelled'),
  error: is.either(is.boolean, is.string),
  ...is.all(is.number, 'minCost', 'minTokens', 'minDurationMs'),
}

/** The options of the methods. The server checks ranges and contents. */
const CLIENT_METHODS: MethodTables<Client> = {
  tools: { 0: is.all(is.string, 'agent', 'query', 'group') },
  tool: { 1: { agent: is.string } },
  conversations: {
    0: { limit: is.number, ...is.all(is.string, 'cursor', 'search', 'branchesOf') },
  },
  runs: { 0: { ...RUN_FILTER, limit: is.number, cursor: is.string } },
  costs: {
    0: {
      ...RUN_FILTER,
      by: is.oneOf('hour', 'day', 'month'),
      timeZone: is.string,
      group: is.oneOf('model', 'agent'),
    },
  },
  followConversations: { 1: { signal: is.required(is.signal), whileVisible: is.boolean } },
  createConversation: { 0: is.all(is.string, 'id', 'title') },
  forkConversation: { 1: { ...is.all(is.string, 'at', 'before', 'id'), branch: is.boolean } },
  exportConversation: { 1: { debug: is.boolean, signal: is.signal } },
  importConversation: { 1: { id: is.string, resume: is.boolean } },
  messages: { 1: is.all(is.number, 'after', 'before', 'limit') },
  retry: { 2: { content: is.anything, agent: is.string } },
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
  cancel: { 1: { runId: is.string, discardQueued: is.boolean } },
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
  edit: { 2: { path: is.string, dryRun: is.boolean } },
  signAsset: { 1: { expiresIn: is.number, path: is.string, download: is.boolean } },
  assetUrl: { 1: ASSET_URL, throws: true },
  assetContent: { 1: { ...ASSET_URL, signal: is.signal } },
  conversation: {
    1: {
      firstPage: is.anything,
      ...is.all(is.notNegative, 'notifyEvery', 'idleTimeout', 'retryDelay'),
      whileVisible: is.boolean,
    },
    throws: true,
  },
}

/** Creates a client of the server at `baseUrl`, for browsers and Node. */
export function createClient(options: ClientOptions = {}): Client {
  if (typeof options === 'string') {
    throw new ByrefError(
      'config_invalid',
      `createClient takes an object of options: createClient({ baseUrl: '${options}' })`,
    )
  }
  checkOptions('createClient', options, CLIENT_OPTIONS)
  const { baseUrl = '', token } = options
  const client = clientOf({
    baseUrl: baseUrl.replace(/\/+$/, ''),
    fetch: options.fetch ?? ((input, init) => fetchFrom(baseUrl, input, init)),
    native: options.fetch === undefined,
    async authorization() {
      const current = typeof token === 'function' ? await token() : token
      if (!current) return {}
      if (/^[!-~]+$/.test(current)) return { authorization: `Bearer ${current}` }
      throw new ApiError(0, 'config_invalid', 'The token has characters that no header may have.')
    },
  })
  return checkMethods('client', client, CLIENT_METHODS)
}

/** @throws ApiError `config_invalid` outside of browsers, if the client does not know the server */
async function fetchFrom(baseUrl: string, ...request: Parameters<typeof fetch>): Promise<Response> {
  if (baseUrl !== '' || 'location' in globalThis) return globalThis.fetch(...request)
  const message =
    "Outside of browsers, createClient needs the server's URL: createClient({ baseUrl })"
  throw new ApiError(0, 'config_invalid', message)
}

/** The requests that the methods of a client share. */
function requestsOf(transport: Transport) {
  return {
    /** @param options The query, and a signal that aborts the request. */
    get: <T>(path: string, { signal, ...query }: object & { signal?: AbortSignal } = {}) =>
      requestJson<T>(transport, path + queryOf(query), { signal }),
    post: <T>(path: string, json?: unknown) =>
      requestJson<T>(transport, path, { method: 'POST', json }),
    async remove(path: string): Promise<void> {
      await request(transport, path, { method: 'DELETE' })
    },
  }
}

function clientOf(transport: Transport): Client {
  const { get, post, remove } = requestsOf(transport)
  const client: Client = {
    ...assetMethods(transport, { get, post, remove }),
    url: transport.baseUrl,
    info: () => get('/api/info'),
    tools: (options) => get('/api/tools', options),
    tool: (name, options) =>
      nullFor('tool_not_found', get(`/api/tools/${encodeURIComponent(name)}`, options)),
    conversations: (query) => get('/api/conversations', query),
    conversationSummary: (id) => nullFor('conversation_not_found', get(at(id))),
    runs: (query) => get('/api/runs', query),
    costs: async (query) => (await get<{ costs: wire.CostSum[] }>('/api/costs', query)).costs,
    createConversation: (options = {}) => post('/api/conversations', options),
    renameConversation: (id, title) =>
      requestJson(transport, at(id), { method: 'PATCH', json: { title } }),
    deleteConversation: (id) => remove(at(id)),
    forkConversation: (id, options = {}) => post(`${at(id)}/fork`, options),
    exportConversation: (id, { signal, ...options } = {}) =>
      request(transport, `${at(id)}/export${queryOf(options)}`, { signal }),
    importConversation: (lines, options) =>
      requestJson(transport, `/api/conversations/import${queryOf(options)}`, {
        method: 'POST',
        body: lines,
        headers: { 'content-type': 'application/x-ndjson' },
      }),
    messages: (id, options) => get(`${at(id)}/messages`, options),
    retry: (id, message, options = {}) => post(`${at(id, 'messages', message)}/retry`, options),
    deleteMessage: (id, message) => remove(at(id, 'messages', message)),
    data: async (id, options) =>
      (await get<{ entries: wire.BoardEntryInfo[] }>(`${at(id)}/data`, options)).entries,
    editData: (id, edit) => post(`${at(id)}/data`, edit),
    events: (id, page) => get(`${at(id)}/events`, page),
    send: (id, message, { ifBusy, agent } = {}) =>
      post(`${at(id)}/messages`, { ...message, ifBusy, agent }),
    approve: async (id, call, answer) => {
      await post(`${at(id, 'calls', call)}/approval`, answer)
    },
    resume: async (id) => (await post<{ resumed: boolean }>(`${at(id)}/resume`)).resumed,
    cancel: async (id, options = {}) =>
      (await post<{ cancelled: boolean }>(`${at(id)}/cancel`, options)).cancelled,
    debug: (id, message, options) =>
      nullFor('message_not_found', get(`${at(id, 'messages', message)}/debug`, options)),
    prompt: (id, message, options) =>
      nullFor('message_not_found', get(at(id, 'prompts', message), options)),
    lineage: (id, ref) =>
      nullFor('variable_not_found', get(`${at(id)}/lineage${queryOf({ ref })}`)),
    labels: (id, options) => get(`${at(id)}/labels`, options),
    openSession: async (token) => {
      await request(transport, '/api/session', { method: 'POST', json: { token } })
    },
    closeSession: () => remove('/api/session'),
    async followConversations(onChange, { signal, whileVisible }) {
      let last: string | undefined
      await followStream(
        (either) => openStream(transport, '/api/events', last, either),
        {
          // Changes before the first connection are not known.
          onOpen: () => last === undefined && onChange({ type: 'reset' }),
          onEvent: ({ id, event, data }) => {
            last = id ?? last
            onChange(event === 'reset' ? { type: 'reset' } : readChange(data))
          },
        },
        signal,
        { whileVisible },
      )
    },
    conversation: (id, options = {}) =>
      followConversation(id, {
        ...options,
        loadPage: (after, signal) => client.events(id, { after, limit: 1000, signal }),
        openStream: (after, signal) =>
          openStream(transport, `${at(id)}/stream`, String(after), signal),
      }),
  }
  return client
}

/** Returns the path of a conversation, or of a resource in it. */
function at(conversation: string, ...parts: string[]): string {
  const [kind, id] = parts
  const path = `/api/conversations/${encodeURIComponent(conversation)}`
  return kind === undefined || id === undefined ? path : `${path}/${kind}/${encodeURIComponent(id)}`
}

/** Returns the query of a request, without undefined and null values. */
function queryOf(values: object = {}): string {
  const entries = Object.entries(values).flatMap(([key, value]) =>
    value === undefined || value === null ? [] : [[key, String(value)] as [string, string]],
  )
  return entries.length > 0 ? `?${new URLSearchParams(entries)}` : ''
}

function readChange(data: string): ConversationChange {
  const { conversation, deleted } = JSON.parse(data) as {
    conversation?: wire.ConversationSummary
    deleted?: string
  }
  if (conversation) return { type: 'changed', conversation }
  // A later version may send other changes.
  return deleted === undefined ? { type: 'reset' } : { type: 'deleted', id: deleted }
}

/** @param last The id of the last event that was received. */
async function openStream(
  transport: Transport,
  path: string,
  last: string | undefined,
  signal: AbortSignal,
): Promise<ReadableStream<Uint8Array>> {
  const headers = {
    accept: 'text/event-stream',
    ...(last === undefined ? {} : { 'last-event-id': last }),
  }
  const response = await request(transport, path, { headers, signal })
  if (response.body && response.headers.get('content-type')?.includes('text/event-stream')) {
    return response.body
  }
  const message =
    'The server did not answer with events. Check that the URL is that of a byref server.'
  throw new ApiError(response.status, 'unexpected_response', message)
}

async function nullFor<T>(code: string, answer: Promise<T>): Promise<T | null> {
  try {
    return await answer
  } catch (error) {
    if (error instanceof ApiError && error.code === code) return null
    throw error
  }
}

/** Returns the methods about assets and tables. */
function assetMethods(transport: Transport, { get, post, remove }: ReturnType<typeof requestsOf>) {
  return {
    upload: (file, options) => upload(transport, file, options),
    assets: (options) => get('/api/assets', options),
    deleteAsset: async (ref) => remove(assetPath(ref)),
    rows: async (ref, { columns, where, ...page } = {}) => {
      const lists = { columns: JSON.stringify(columns), where: JSON.stringify(where) }
      return get(`${assetPath(ref)}/rows`, { ...page, ...lists })
    },
    query: async (query) => (await post<{ asset: wire.AssetInfo }>('/api/query', query)).asset,
    edit: (ref, edits, options) => post(`${assetPath(ref)}/edit`, { edits, ...options }),
    versions: async (ref) =>
      (await get<{ versions: wire.AssetInfo[] }>(`${assetPath(ref)}/versions`)).versions,
    signAsset: async (ref, options = {}) => {
      const signed = await post<wire.SignedUrl>(`${assetPath(ref)}/sign`, options)
      return { ...signed, url: transport.baseUrl + signed.url }
    },
    asset: async (ref) => nullFor('asset_not_found', get(assetPath(ref))),
    assetUrl: (ref, options = {}) => transport.baseUrl + contentPath(ref, options),
    assetContent: async (ref, { signal, ...options } = {}) =>
      request(transport, contentPath(ref, options), { signal }),
  } satisfies Partial<Client>
}
