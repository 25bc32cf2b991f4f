import type { AssetInfo } from '../assets/asset-info.ts'
import type { Assets } from '../assets/assets-contract.ts'
import { findAsset } from '../assets/find-asset.ts'
import type { JsonSchema, ToolSchema } from '../boundary/describe-schema.ts'
import type { Tool, ToolContext } from '../boundary/tool.ts'
import { ConversationSource } from '../boundary/value-source.ts'
import { ByrefError } from '../core/errors.ts'
import { copyJson } from '../core/json/copy-json.ts'
import { isPlainObject, type JsonValue } from '../core/json/json.ts'
import { type Clearance, join } from '../core/labels/label.ts'
import type { MessageInput } from '../core/messages/to-message.ts'
import {
  type AssetRefParts,
  formatAssetRef,
  isAssetRef,
  parseAssetRef,
} from '../core/refs/asset-ref.ts'
import { findEmbeddedRefs } from '../core/refs/embedded-refs.ts'
import { findTextMarks } from '../core/refs/text-marks.ts'
import { parseVariableRef } from '../core/refs/variable-ref.ts'
import type { Run } from '../engine/follow-run.ts'
import type { OutputSchema } from '../engine/output/output-schema.ts'
import { RunLostError } from '../engine/run-lost-error.ts'
import type { Session } from '../engine/session.ts'
import { LeaseHeldError } from '../log/conversation-log.ts'
import type { AgentParts } from './agent-parts.ts'
import { resumeRun } from './resume.ts'
import { startRun } from './start-run.ts'

/** Options of `agent.asTool`. */
export interface SubAgentOptions {
  /** What the model calls it by. */
  id: string
  /** For the model: what it is good at. */
  description: string
  /** What it is given; default `{ task, assets? }`: a text, and references to the assets that it may need. */
  inputSchema?: ToolSchema | JsonSchema
  /** What it gives: its answer as this schema has it. Default: the text of its answer. */
  output?: OutputSchema
  /** The data of the calling conversation that it sees, as `†` paths such as `†state.user`. Default: none. */
  data?: readonly string[]
  /** What its messages are signed with, after their sender; default `id`. */
  attribution?: string
  needsApproval?: Tool['needsApproval']
  timeoutMs?: number
}

/** The clearance of who follows labels itself. */
const ANYTHING: Clearance = { integrity: 'untrusted', confidentiality: 'private' }

const DEFAULT_SCHEMA: JsonSchema = {
  type: 'object',
  properties: {
    task: {
      type: 'string',
      description: 'What it shall do, in full: it sees nothing of this conversation',
    },
    assets: {
      type: 'array',
      items: { type: 'string' },
      description: 'References to the assets that it needs, such as "asset://id"',
    },
  },
  required: ['task'],
  additionalProperties: false,
}

/**
 * An agent as a tool. Each call is a run in a conversation of its own, whose id is made of the call's, so that
 * a call that a crash cut off goes on where it was. It sees what it is given: its input, the data named in `data`, the
 * assets that its input names.
 */
export function subAgentTool(parts: AgentParts, options: SubAgentOptions): Tool {
  const { id, description, inputSchema = DEFAULT_SCHEMA, data = [], attribution = id } = options
  const { output } = options
  return {
    id,
    description,
    inputSchema,
    ...(output === undefined ? {} : { outputSchema: output }),
    idempotent: true,
    needsApproval: options.needsApproval,
    timeoutMs: options.timeoutMs,
    // What it is given keeps its labels in its conversation, where its own tools are asked about.
    ...(parts.settings.trust ? { openWorld: false, accepts: ANYTHING } : {}),
    async execute(input, context) {
      const conversation = `${context.conversation}/${context.toolCallId}`.slice(-200)
      const { namespace } = context
      const sessions = parts.sessions(namespace)
      const session = await sessions.get(conversation)
      if (session.state.position > 0) {
        const run = resumeRun(sessions, conversation, { here: true })
        return await outcome(run, { parts, context, attribution })
      }
      const messages = [...(await sharedData(data, context)), inputMessage(input, context)]
      const refs = new Set(namedIn(copyJson([messages, input])))
      for (const ref of refs) await copyAsset(ref, context.assets, parts.assets.in(namespace))
      const started = {
        conversation,
        namespace,
        parentRunId: context.runId,
        attribution,
        messages,
        ...(output === undefined ? {} : { output }),
        // Also of the data that it shares, which it reads by itself.
        ...(context.trust ? { label: join(context.trust.given, context.trust.read) } : {}),
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
  const cancel = (): void => {
    if (!goesOn(signal.reason)) run.cancel()
  }
  signal.addEventListener('abort', cancel, { once: true })
  if (signal.aborted) cancel()
  try {
    for await (const event of run) {
      if (event.type === 'TOOL_CALL_END') progress(`${attribution}: ${event.call.name}`)
      if (event.type === 'APPROVAL_REQUESTED')
        progress(`${attribution} waits for a person, in ${run.conversation}`)
      // The answer may come through any agent on this log.
      if (event.type === 'APPROVAL_ANSWERED') sessions.wakeHere(session)
    }
    const { text, output, reason, usage, assets } = await run.result.finally(() => {
      // Also of a run that failed: its words may be anybody's.
      if (session.labels) context.trust?.mark(session.labels.context())
    })
    context.addUsage(usage)
    const own = parts.assets.in(namespace)
    for (const { ref } of assets) {
      // A copy announces itself.
      if (await copyAsset(ref, own, context.assets)) await context.announce(ref)
    }
    if (reason === 'done') return output ?? (await handedOver(text, session, context))
    throw new ByrefError(
      'tool_failed',
      `The agent "${attribution}" ended with ${reason}${text ? `: ${text}` : ''}`,
    )
  } finally {
    signal.removeEventListener('abort', cancel)
  }
}

/** Whether the calling run goes on in another process, or later: it then asks for this run's result again. */
function goesOn(reason: unknown): boolean {
  if (reason instanceof RunLostError) return reason.goesOn
  return (
    reason instanceof LeaseHeldError ||
    (reason instanceof ByrefError && ['log_failed', 'storage_full'].includes(reason.code))
  )
}

/** Characters of a value that may stand within a text. */
const MAX_INLINE = 2000

/**
 * An answer without variables, which name other values in the conversation of its caller. An answer that is one variable
 * becomes its value; within a longer text, short values are written out and long ones become assets.
 */
async function handedOver(text: string, session: Session, context: ToolContext): Promise<unknown> {
  const { assets, trust } = context
  const { board, results } = session
  const reader = new ConversationSource({ board, results, assets }, { id: '' })
  const read = async (variable: string): Promise<unknown> => {
    const { value } = await reader.read(variable)
    // Its model may never have seen the value.
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
    const written = typeof value === 'string' ? value : JSON.stringify(value)
    const content_type = 'result'
    const put =
      written.length <= MAX_INLINE
        ? written
        : `<|${(await assets.saveAsset({ content_type, content: value })).ref}|>`
    handed += text.slice(at, mark.start) + put
    at = mark.end
  }
  return handed + text.slice(at)
}

/** The data that it shares, as they are now. */
async function sharedData(
  paths: readonly string[],
  { read }: ToolContext,
): Promise<MessageInput[]> {
  const shared = paths.map(async (path): Promise<MessageInput[]> => {
    const [, kind = 'data'] = /^†([^.#[]+)/.exec(path) ?? []
    try {
      return [{ type: 'data', kind, data: await read(path) }]
    } catch (error) {
      // What is not there yet is not shared.
      if (error instanceof ByrefError && error.code === 'variable_not_found') return []
      throw error
    }
  })
  return (await Promise.all(shared)).flat()
}

/** Text where there is a task that may be shown, else the input as data; the assets that it names are attached. */
function inputMessage(input: unknown, { trust }: Pick<ToolContext, 'trust'>): MessageInput {
  const value = copyJson(input)
  const attachments = namedIn(value).map((assetRef) => ({ assetRef }))
  const metadata = attachments.length > 0 ? { attachments } : {}
  const { task } = Object(value) as { task?: JsonValue }
  const isShown = trust?.given.integrity !== 'untrusted'
  if (typeof task === 'string' && isShown) return { role: 'user', content: task, metadata }
  return { type: 'input', input: value, metadata }
}

/** The references to assets in a value, and in its texts. */
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
 * Copies an asset between agents that keep theirs in different stores, under the same id: a reference means the same to both.
 *
 * @returns what is known of the asset where it was there already; null where it was copied, or where neither has it
 */
export async function copyAsset(ref: string, from: Assets, to: Assets): Promise<AssetInfo | null> {
  const there = await findAsset(ref, to)
  if (there) return there
  const info = await findAsset(ref, from)
  if (!info) return null
  const { assetId, name, mime, structured, expiresAt } = info
  if (!structured) {
    const { stream } = await from.open(info.ref)
    await to.save(stream, mime, { assetId, name, expiresAt })
    return null
  }
  const { asset_type, content_type, description } = await from.meta(info.ref)
  await to.saveAsset({
    asset_id: assetId,
    asset_type,
    content_type,
    content: await from.resolve(`${info.ref}/content`),
    ...(name === null ? {} : { asset_name: name }),
    ...(description ? { description } : {}),
  })
  return null
}
