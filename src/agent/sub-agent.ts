import { findAsset } from '../assets/asset-facade.ts'
import type { AssetInfo } from '../assets/asset-store.ts'
import { fullRef } from '../assets/asset-tool-input.ts'
import { PreparedContent } from '../assets/asset-writer.ts'
import type { Assets } from '../assets/assets-contract.ts'
import { fileRefIn } from '../assets/held-body.ts'
import { namedAssets } from '../assets/named-assets.ts'
import type { JsonSchema, ToolSchema } from '../boundary/describe-schema.ts'
import { declaresReferences } from '../boundary/resolve-assets.ts'
import type { Tool, ToolContext } from '../boundary/tool.ts'
import { ConversationSource } from '../boundary/value-source.ts'
import { defined } from '../core/defined.ts'
import { ByrefError } from '../core/errors.ts'
import { runOf } from '../core/events/conversation-state.ts'
import type { AssetCreated, ConversationEvent } from '../core/events/events.ts'
import { copyJson } from '../core/json/copy-json.ts'
import { isPlainObject, type JsonValue } from '../core/json/json.ts'
import { type Clearance, join } from '../core/labels/label.ts'
import type { MessageInput } from '../core/messages/to-message.ts'
import { unlessAborted } from '../core/on-abort.ts'
import {
  type AssetRefParts,
  extractAssetId,
  formatAssetRef,
  isAssetRef,
  parseAssetRef,
} from '../core/refs/asset-ref.ts'
import { findEmbeddedRefs } from '../core/refs/embedded-refs.ts'
import { findTextMarks } from '../core/refs/text-marks.ts'
import { parseVariableRef, type VariableRef } from '../core/refs/variable-ref.ts'
import { callingRunOf } from '../engine/calls/active-call.ts'
import { subConversationId } from '../engine/cancel.ts'
import type { Run } from '../engine/follow-run.ts'
import type { OutputSchema } from '../engine/output/output-schema.ts'
import { assetsOf } from '../engine/output/run-output.ts'
import { RunLostError } from '../engine/run-errors.ts'
import type { Session } from '../engine/session.ts'
import { LeaseHeldError } from '../log/conversation-log.ts'
import { offloadedIn } from './accept-messages.ts'
import type { AgentParts } from './agent-parts.ts'
import { relayApprovals } from './relay-approvals.ts'
import { resumeRun } from './resume.ts'
import { startRun } from './start-run.ts'

/** Options of `agent.asTool`. */
export interface SubAgentOptions {
  /** The tool's id, which is its name for the model. */
  id: string
  /** Tells the model what the agent is good at. */
  description: string
  /** Schema of the input. Default: `{ task, assets? }`, a text, and ids of or references to the assets it needs. */
  inputSchema?: ToolSchema | JsonSchema
  /** Schema of the result, which is then JSON. Default: the text of the agent's answer. */
  output?: OutputSchema
  /**
   * The calling conversation's data that the agent sees, under the same names, as `†` paths such as `†state.user`.
   * Default: none.
   */
  data?: readonly string[]
  /** A name that is stored with the run's messages, next to their sender. Default: `id`. */
  attribution?: string
  /** Whether a person must approve each call, or a function of the input that decides. Default: false. */
  needsApproval?: Tool['needsApproval']
  /** Time limit of one call, in milliseconds. Default: `limits.callTimeoutMs` of the calling agent. */
  timeoutMs?: number
}

/** Accepts data with any label, because the sub-agent checks flows itself. */
const ANYTHING: Clearance = { integrity: 'untrusted', confidentiality: 'private' }

/** Returns the schema of `{ task, assets? }`. @param data The data that the agent sees. */
function taskSchema(data: readonly string[]): JsonSchema {
  const seen = data.length === 0 ? 'nothing of this conversation' : `only ${data.join(', ')}`
  return {
    type: 'object',
    properties: {
      task: { type: 'string', description: `The full task. The agent sees ${seen}` },
      assets: {
        type: 'array',
        items: { type: 'string', asset_ref_acceptable: true, asset_ref_as: 'ref' },
        description: 'Assets that it needs: ids, or references such as "asset://id"',
      },
    },
    required: ['task'],
    additionalProperties: false,
  }
}

interface DefaultInput {
  task: string
  assets?: readonly string[]
}

/**
 * Returns the agent as a tool. Each call is a run in a conversation of its own. The conversation's id derives
 * from the call's id, so a call that a crash interrupted continues where it stopped. The sub-agent sees only
 * its input, the data named in `data`, and the assets that the input refers to.
 */
export function subAgentTool(parts: AgentParts, options: SubAgentOptions): Tool {
  const { id, description, data = [], attribution = id } = options
  const inputSchema = options.inputSchema ?? taskSchema(data)
  const { output } = options
  return {
    id,
    description,
    inputSchema,
    outputSchema: output,
    // The sub-agent receives references, not their values.
    references: 'declared',
    idempotent: true,
    needsApproval: options.needsApproval,
    timeoutMs: options.timeoutMs,
    // Values keep their labels in the sub-agent's conversation, where flows to its own tools are checked.
    ...(parts.settings.trust ? { openWorld: false, accepts: ANYTHING } : {}),
    async execute(given, context) {
      const conversation = subConversationId(context.conversation, context.toolCallId)
      const { namespace } = context
      const sessions = parts.sessions(namespace)
      const session = await sessions.get(conversation)
      const { position, runs } = session.state
      const isOthers = runs.length > 0 && !runs.some((run) => run.parentRunId === context.runId)
      if (isOthers) {
        // It belonged to a deleted conversation with the same id.
        await parts.log.scoped(namespace).delete(conversation)
      } else if (position > 0) {
        const run = resumeRun(sessions, conversation, { here: true, output })
        return await outcome(run, { parts, context, attribution })
      }
      const own = parts.assets.in(namespace)
      const isDefault = options.inputSchema === undefined
      const input = isDefault ? await withReferences(given as DefaultInput, context, own) : given
      const messages = [...(await sharedData(data, context)), inputMessage(input, context)]
      const refs = new Set(namedIn(copyJson([messages, input])))
      for (const ref of refs) await copyAsset(ref, context.assets, own)
      const started = {
        conversation,
        namespace,
        parentRunId: context.runId,
        attribution,
        messages,
        context: callingRunOf(context)?.context,
        output,
        // This includes the labels of the shared data, which `execute` reads itself.
        label: context.trust ? join(context.trust.input, context.trust.read) : undefined,
      }
      const { run } = startRun(parts, started, { toolCallId: context.toolCallId })
      return await outcome(run, { parts, context, attribution })
    },
  }
}

async function outcome(
  run: Run,
  { parts, context, attribution }: { parts: AgentParts; context: ToolContext; attribution: string },
): Promise<unknown> {
  const { signal, namespace, progress } = context
  const sessions = parts.sessions(namespace)
  const session = await sessions.get(run.conversation)
  // In another log, only the caller's run counts what the sub-agent has used.
  const isSameLog = (await parts.log.scoped(namespace).find(context.conversation)) !== null
  let isCounted = false
  const countUsage = (): void => {
    const { usage } = runOf(session.state, run.id) ?? {}
    if (usage && !isCounted) context.addUsage(usage, isSameLog ? run.id : undefined)
    isCounted = true
  }
  const markRead = (): void => {
    const { labels } = session
    const asked = runOf(session.state, run.id)?.overrides?.output
    // The sub-agent's model may not have seen the values that its output refers to.
    const isByReference = asked !== undefined && declaresReferences(asked)
    if (labels) context.trust?.mark(isByReference ? labels.everything() : labels.context())
  }
  const handed = new Set<string>()
  /** Hands over new assets while the run goes on, because a call that times out does not wait for its end. */
  const handOver = async (): Promise<void> => {
    const current = runOf(session.state, run.id)
    const made = current ? assetsOf(session.state, current) : []
    for (const { ref } of made.filter(({ ref }) => !handed.has(ref))) {
      // A copy gets the labels that the call has when it is saved.
      markRead()
      // copyAsset announces the assets that it copies.
      if (await copyAsset(ref, parts.assets.in(namespace), context.assets))
        await context.announce(ref)
      handed.add(ref)
    }
  }
  const cancel = (): void => {
    if (continuesLater(signal.reason)) return
    // The call does not wait until the cancelled run has ended.
    countUsage()
    run.cancel()
  }
  signal.addEventListener('abort', cancel, { once: true })
  if (signal.aborted) cancel()
  try {
    // A crash may have come between a request and its relay.
    await relayApprovals(session, context)
    for await (const event of run) {
      if (event.type === 'TOOL_CALL_END') progress(`${attribution}: ${event.call.name}`)
      if (event.type === 'APPROVAL_REQUESTED')
        progress(`${attribution} waits for an approval in ${run.conversation}`)
      // Any agent on this log may receive the answer. If the caller has left this process, another one continues.
      if (event.type === 'APPROVAL_ANSWERED' && !signal.aborted) sessions.wakeHere(session)
      if (isAboutApproval(event)) await relayApprovals(session, context)
      // If it fails, the end of the run tries again.
      if (event.type === 'NEW_MESSAGE') await handOver().catch(() => {})
    }
    await relayApprovals(session, context)
    const { text, output, reason, assets } = await run.result.finally(async () => {
      // Applies to failed runs too: the text of their errors may be untrusted, and their tokens count.
      markRead()
      countUsage()
      await handOver()
    })
    if (reason === 'done') return output ?? (await handedOver(text, session, context))
    const { length: steps } = runOf(session.state, run.id)?.steps ?? []
    throw new ByrefError(
      'tool_failed',
      `The agent "${attribution}" ended with ${reason} after ${steps} steps, ${text ? `with this answer: ${text}` : 'without an answer'}.${madeText(assets)} Give it a smaller task, or go on without it.`,
    )
  } catch (error) {
    const isOpen = runOf(session.state, run.id)?.status === 'running'
    const isClosed = error instanceof ByrefError && error.code === 'interrupted'
    // The sub-agent was closed before its caller. Its run continues when the caller's run does.
    if (isOpen && isClosed) await unlessAborted(signal, () => new Promise<never>(() => {}))
    throw error
  } finally {
    signal.removeEventListener('abort', cancel)
  }
}

/** Maximum number of assets in the error of a sub-agent. The prompt lists all of them. */
const MAX_NAMED = 3

function madeText(assets: readonly AssetCreated[]): string {
  if (assets.length === 0) return ''
  const named = assets
    .slice(0, MAX_NAMED)
    .map(({ ref, name }) => (name === undefined ? ref : `${ref} (${name})`))
  const more = assets.length > MAX_NAMED ? ` and ${assets.length - MAX_NAMED} more` : ''
  return ` It has made: ${named.join(', ')}${more}.`
}

function isAboutApproval({ type }: ConversationEvent): boolean {
  return type === 'APPROVAL_REQUESTED' || type === 'APPROVAL_ANSWERED'
}

/** Whether the calling run continues elsewhere or later. Then it will ask for this run's result again. */
function continuesLater(reason: unknown): boolean {
  if (reason instanceof RunLostError) return reason.continues
  return (
    reason instanceof LeaseHeldError ||
    (reason instanceof ByrefError && ['log_failed', 'storage_full'].includes(reason.code))
  )
}

/** Maximum length of a value that is written into a text, in characters. */
const MAX_INLINE = 2000

/**
 * Replaces the variables in an answer with values, because they would name other values in the caller's conversation.
 * If the whole answer is one variable, returns its value. Within a longer text, short values are written out, long ones
 * become assets, and files become references.
 */
async function handedOver(text: string, session: Session, context: ToolContext): Promise<unknown> {
  const { assets, trust } = context
  const { board, results } = session
  const reader = new ConversationSource({ board, results, assets }, { id: '' })
  const read = async (variable: string): Promise<unknown> => {
    const { value } = await reader.read(variable)
    // The sub-agent's model may not have seen the value, so the answer gets the labels of everything.
    if (session.labels) trust?.mark(session.labels.everything())
    return value
  }
  const whole = text.trim()
  if (parseVariableRef(whole)) return read(whole).catch(() => text)
  let handed = ''
  let at = 0
  for (const mark of findTextMarks(text)) {
    if (mark.type !== 'variable' && mark.type !== 'bare') continue
    const value = await read(mark.text).catch(() => undefined)
    if (value === undefined) continue
    const put = await asText(value, assets)
    handed += text.slice(at, mark.start) + put
    at = mark.end
  }
  return handed + text.slice(at)
}

/** Returns a value as a part of a text: its JSON or a reference. */
async function asText(content: unknown, assets: Assets): Promise<string> {
  const file = fileRefIn(content)
  if (file !== null) return `<|${file}|>`
  const written = typeof content === 'string' ? content : JSON.stringify(content)
  if (written.length <= MAX_INLINE) return written
  return `<|${(await assets.saveAsset({ content_type: 'result', content })).ref}|>`
}

/**
 * Returns the shared data with their current values, under the names that they have in the calling conversation, and
 * with their descriptions and schemas.
 */
async function sharedData(paths: readonly string[], context: ToolContext): Promise<MessageInput[]> {
  if (paths.length === 0) return []
  // With trust on, a description may have another label than the value.
  const entries = (context.trust ? undefined : callingRunOf(context)?.entries()) ?? []
  const shared = paths.map(async (ref): Promise<MessageInput[]> => {
    const { kind, instance, path } = parseVariableRef(ref) as VariableRef
    try {
      const data = await context.read(ref)
      const of = entries.filter((entry) => entry.kind === kind)
      const own = of.find((entry) => entry.instance === instance)
      const general = of.find((entry) => entry.instance === undefined)
      const { description = general?.description, schema = general?.schema } = own ?? {}
      // The schema fits neither a part of the value, nor a value of which a part has become an asset.
      const isWhole = path.length === 0 && offloadedIn(data).length === 0
      const about = defined({ description, schema: isWhole ? schema : undefined })
      return [{ type: 'data', kind, _instance: instance, _path: path, data, ...about }]
    } catch (error) {
      // Data that does not exist yet is not shared.
      if (error instanceof ByrefError && error.code === 'variable_not_found') return []
      throw error
    }
  })
  return (await Promise.all(shared)).flat()
}

/**
 * Returns the input with references in place of ids. The assets are in the caller's store, or in the sub-agent's own.
 *
 * @throws ByrefError `asset_not_found`
 */
async function withReferences(
  { assets, ...task }: DefaultInput,
  context: ToolContext,
  own: Assets,
): Promise<DefaultInput> {
  if (!assets) return task
  const refs = assets.map(async (named) => {
    for (const store of [context.assets, own]) {
      const found = await findAsset(named, store)
      if (found) return fullRef(found, named)
    }
    throw new ByrefError(
      'asset_not_found',
      `There is no asset ${JSON.stringify(named)}. In "assets", write the asset_id of an asset, or a reference to it, such as "asset://id".`,
    )
  })
  return { ...task, assets: await Promise.all(refs) }
}

/**
 * Returns the task as text if it may be shown; otherwise the input as data. Attaches the assets that the input
 * refers to.
 */
function inputMessage(input: unknown, { trust }: Pick<ToolContext, 'trust'>): MessageInput {
  const value = copyJson(input)
  const attachments = namedIn(value).map((assetRef) => ({ assetRef }))
  const metadata = attachments.length > 0 ? { attachments } : {}
  const { task } = Object(value) as { task?: JsonValue }
  const isShown = trust?.input.integrity !== 'untrusted'
  if (typeof task === 'string' && isShown) return { role: 'user', content: task, metadata }
  return { type: 'input', input: value, metadata }
}

/** Returns the asset references in a value and in its texts. */
function namedIn(value: JsonValue): string[] {
  if (typeof value === 'string') {
    if (isAssetRef(value)) return [value]
    return findEmbeddedRefs(value).map(({ ref }) =>
      formatAssetRef(parseAssetRef(ref) as AssetRefParts),
    )
  }
  if (Array.isArray(value) || isPlainObject(value)) return Object.values(value).flatMap(namedIn)
  return []
}

/**
 * Copies an asset, and those that its content names, between agents with different stores. Ids stay the same, so a
 * reference works in both.
 *
 * @returns the asset's info if it already existed; null if it was copied, or if neither store has it
 */
export async function copyAsset(
  ref: string,
  from: Assets,
  to: Assets,
  open: ReadonlySet<string> = new Set(),
): Promise<AssetInfo | null> {
  const existing = await findAsset(ref, to)
  if (existing) return existing
  const info = await findAsset(ref, from)
  // Assets with ids of the app's choice may name each other.
  if (!info || open.has(info.assetId)) return null
  try {
    await saveCopy(info, { from, to, open: new Set([...open, info.assetId]) })
    return null
  } catch (error) {
    // Another call copies it, too.
    if (!(error instanceof ByrefError) || error.code !== 'asset_exists') throw error
    return findAsset(ref, to)
  }
}

async function saveCopy(
  info: AssetInfo,
  { from, to, open }: { from: Assets; to: Assets; open: ReadonlySet<string> },
): Promise<void> {
  const { assetId, name, mime, structured, expiresAt, table } = info
  const { asset_type, content_type, description } = await from.meta(info.ref)
  if (!structured) {
    const { stream } = await from.open(info.ref)
    const about = { assetType: asset_type, description: info.description ?? undefined }
    await to.save(stream, mime, defined({ assetId, name, expiresAt, ...about }))
    return
  }
  const content = table ? await tableContent(info, from) : await from.resolve(`${info.ref}/content`)
  const inside = table ? [] : namedAssets(content, { bareIds: false })
  for (const id of inside) await copyAsset(id, from, to, open)
  const about = defined({ asset_type, content_type, description })
  const named = name === null ? {} : { asset_name: name }
  await to.saveAsset({ asset_id: assetId, ...about, ...named, content }, { expiresAt })
}

/** Returns a table as content to save, without reading its rows. */
async function tableContent(
  { ref, name, mime, table }: AssetInfo,
  from: Assets,
): Promise<PreparedContent> {
  const [meta, { columns, count }, { stream }] = await Promise.all([
    from.meta(ref),
    from.rows(ref),
    from.open(ref),
  ])
  const { asset_type, description, content_type } = meta
  const source = table?.source ?? null
  const references = source === null ? [] : [extractAssetId(source)]
  const facts = { columns, rows: count, source }
  const about = defined({ asset_type, description, content_type, meta, references, table: facts })
  return new PreparedContent({ name, mime, body: stream, attributes: about })
}
