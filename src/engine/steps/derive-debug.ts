import { describeTool } from '../../boundary/describe-tool.ts'
import type { Tool } from '../../boundary/tool.ts'
import {
  type ConversationState,
  openRun,
  type RunState,
  type StepState,
} from '../../core/events/conversation-state.ts'
import { createFold } from '../../core/events/fold.ts'
import { Branch, copyTree } from '../../core/json/copy-json.ts'
import { isPlainObject, type JsonValue } from '../../core/json/json.ts'
import { createLabels, type Labels } from '../../core/labels/labels.ts'
import type { Message } from '../../core/messages/message.ts'
import { readMetadata } from '../../core/messages/read-metadata.ts'
import { type ConversationLog, readAll } from '../../log/conversation-log.ts'
import { redact } from '../../log/redact.ts'
import { capabilitiesOf } from '../../models/capabilities.ts'
import type { ModelSettings } from '../../models/language-model.ts'
import { nodeBuiltin } from '../../node-builtin.ts'
import { resolveTrust } from '../../policies/trust/trust-options.ts'
import type { AgentSettings } from '../run-settings.ts'
import { boardOf } from '../session-values.ts'
import type { ChangedSettings } from './prepare-step.ts'
import type { SettingsSnapshot } from './settings-snapshot.ts'
import { laterTools, StepPrompts, withChosenTool } from './step-prompts.ts'

const { createHash } = nodeBuiltin('node:crypto')

/** The sources that a step's request is derived from. */
export interface DebugSource {
  log: ConversationLog
  settings: AgentSettings
}

/**
 * Returns the debug data of a message: the data that was appended with it, or, for the answer of a step, its
 * request and response. The prompt in the request is derived from the log as it was at that time, with digests in
 * place of bytes. If the appended data has a request, that one is returned. Null if there is no debug data, or if the
 * message was deleted.
 */
export async function deriveDebug(
  { log, settings }: DebugSource,
  conversation: string,
  messageId: string,
): Promise<unknown> {
  if ((await log.deleted(conversation)).includes(messageId)) return null
  const logged = await log.debug(conversation, messageId)
  if (isPlainObject(logged) && isPlainObject(logged.request)) return logged
  const found = await findStep(log, conversation, messageId)
  if (!found) return logged
  const { changed, ...metadata }: { changed?: ChangedSettings } = Object(logged)
  const { before, answer, step, labels } = found
  const { settings: name, overrides } = openRun(before) ?? {}
  const used = (name ? await log.debug(conversation, name) : null) as SettingsSnapshot | null
  const { instructions, later, ...agent } = used ?? { ...settings, tools: [] }
  const deferred = used?.deferred
  const { model = agent.model, activeTools } = changed ?? {}
  const hidden = laterTools({ later: new Set(later) }, before)
  const listed = agent.tools.filter(
    ({ name }) => !hidden?.has(name) && (activeTools?.includes(name) ?? true),
  )
  // A tool that is found by search is not in the settings. The step may have named it.
  const named = activeTools?.filter((id) => settings.deferred.has(id)) ?? []
  const shown = [...listed, ...named.map((id) => describeTool(settings.tools.get(id) as Tool))]
  const callOptions = {
    ...used?.settings,
    ...overrides?.settings,
    ...changed?.settings,
  } as ModelSettings
  const tools = withChosenTool(shown, callOptions, settings)
  const trust = trustOf(openRun(before)?.trust, settings)
  const prompts = new StepPrompts({ ...settings, instructions, trust }, log.namespace)
  const board = boardOf(before.messages)
  const capabilities = changed?.model && (await capabilitiesOf({ ...model, supportedUrls: {} }))
  const { prompt } = await prompts.next({ state: before, board, labels }, capabilities)
  const { provider, modelId } = model
  const { content: text } = answer
  const { calls, reasoning } = readMetadata(answer)
  const { usage, finishReason } = step
  const runOptions = {
    ...(Object.keys(callOptions).length > 0 ? { settings: redact(callOptions) } : {}),
    ...(overrides?.output ? { output: overrides.output } : {}),
  }
  return {
    request: debugValue({ model: { provider, modelId }, ...runOptions, prompt, tools, deferred }),
    response: { text, calls, reasoning, usage, finishReason, ...metadata },
  }
}

/** Returns the trust settings of the run, which may differ from the agent's current ones. */
function trustOf(
  mode: RunState['trust'],
  { trust }: Pick<AgentSettings, 'trust'>,
): AgentSettings['trust'] {
  if (mode === undefined || mode === 'off') return null
  return { ...(trust ?? resolveTrust(mode)), mode } as AgentSettings['trust']
}

interface FoundStep {
  /** The conversation's state when the step began. */
  before: ConversationState
  step: StepState
  answer: Message
  /** The labels of the conversation's values. */
  labels: Labels
}

/** Finds the step that wrote a message; null if no step did. */
async function findStep(
  log: ConversationLog,
  conversation: string,
  messageId: string,
): Promise<FoundStep | null> {
  const folding = createFold()
  const labels = createLabels()
  let before: ConversationState | null = null
  for await (const record of readAll(log, conversation)) {
    folding.apply(record)
    labels.apply(record)
    const { event } = record
    const isBegun = event.type === 'STEP_STARTED' && event.messageId === messageId
    if (isBegun || (before && event.type === 'PROMPT_COMPACTED')) before = folding.snapshot()
    if (!before || event.type !== 'STEP_FINISHED' || event.messageId !== messageId) continue
    const { state } = folding
    const answer = state.messages.findLast(({ id }) => id === messageId)
    const step = openRun(state)?.steps.findLast((one) => one.messageId === messageId)
    return answer && step ? { before, step, answer, labels } : null
  }
  return null
}

/**
 * Converts a value to JSON for debugging. Bytes are replaced by their size and digest. Functions are left out.
 */
function debugValue(root: unknown): JsonValue {
  return copyTree(root, (value) => {
    if (value instanceof Uint8Array) {
      return { bytes: value.length, sha256: createHash('sha256').update(value).digest('hex') }
    }
    if (value instanceof URL) return value.href
    if (typeof value === 'function' || value === undefined) return undefined
    if (typeof value !== 'object' || value === null) return value as JsonValue
    const isList = Array.isArray(value)
    return new Branch(value, isList, isList ? value.entries() : Object.entries(value))
  })
}
