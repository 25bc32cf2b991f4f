import { describeTools } from '../../boundary/describe-tool.ts'
import type { ConversationState } from '../../core/events/conversation-state.ts'
import { oncePer } from '../../core/once-resolved.ts'
import type { ModelSettings } from '../../models/language-model.ts'
import { nodeBuiltin } from '../../node-builtin.ts'
import type { AgentSettings } from '../run-settings.ts'

const { createHash } = nodeBuiltin('node:crypto')

const encoder = new TextEncoder()

/**
 * The settings that prompts depend on, apart from the conversation. They rarely change, so the debug data has only one
 * copy of them.
 */
export interface SettingsSnapshot {
  model: { provider: string; modelId: string }
  instructions: string
  /** The tools as the model sees them. */
  tools: readonly { name: string }[]
  /** The names of tools that the model sees only once a result has become an asset. */
  later?: readonly string[]
  /** The tools that the model finds by search; absent if there are none. */
  deferred?: DeferredTools
  /** The settings of model calls; absent if there are none. A run's own settings are in its `RUN_STARTED`. */
  settings?: ModelSettings
}

/** Tools that are not in prompts, because the model finds them by search. */
export interface DeferredTools {
  tools: number
  /** The length of their schemas as JSON, in UTF-8 bytes. */
  bytes: number
}

/**
 * Returns the name of an agent's settings, for the event that starts or takes over a run. Also returns the
 * settings, unless the conversation's last run has the same name. Prompts are derived from the log and these
 * settings, and are not stored.
 */
export function snapshotSettings(
  { runs }: Pick<ConversationState, 'runs'>,
  settings: AgentSettings,
): { name: string; debug?: Record<string, unknown> } {
  const { name, value } = described(settings)
  if (runs.at(-1)?.settings === name) return { name }
  return { name, debug: { [name]: value } }
}

const described = oncePer((settings: AgentSettings) => {
  const { model, instructions, tools, later, deferred, modelSettings } = settings
  const { provider, modelId } = model
  const value: SettingsSnapshot = {
    model: { provider, modelId },
    instructions,
    tools: describeTools(tools, deferred),
    ...(later.size > 0 ? { later: [...later] } : {}),
    ...(deferred.size > 0 ? { deferred: deferredOf(settings) } : {}),
    ...(Object.keys(modelSettings).length > 0 ? { settings: modelSettings } : {}),
  }
  const text = [JSON.stringify({ ...value, tools: [] }), ...value.tools.map(toolJson)].join('\n')
  const digest = createHash('sha256').update(text).digest('base64url')
  return { name: `settings/${digest.slice(0, 22)}`, value }
})

function deferredOf({ tools, deferred }: AgentSettings): DeferredTools {
  const hidden = describeTools(tools).filter(({ name }) => deferred.has(name))
  const bytes = hidden.reduce((sum, tool) => sum + encoder.encode(toolJson(tool)).length, 0)
  return { tools: hidden.length, bytes }
}

/** Returns a tool as JSON. Many agents share a tool. */
const toolJson = oncePer((tool: object) => JSON.stringify(tool))
