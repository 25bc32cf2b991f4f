import { toolsForModel } from '../../boundary/describe-tool.ts'
import type { ConversationState } from '../../core/events/conversation-state.ts'
import type { ModelSettings } from '../../models/model-settings.ts'
import { nodeBuiltin } from '../../node-builtin.ts'
import type { AgentSettings } from '../run-settings.ts'

const { createHash } = nodeBuiltin('node:crypto')

/** What prompts are made with, beside the conversation: it seldom changes, and is kept once among the debug data. */
export interface KeptSettings {
  model: { provider: string; modelId: string }
  instructions: string
  /** As the model is shown them. */
  tools: readonly { name: string }[]
  /** The names of those that it was shown only when a result had become an asset. */
  later?: readonly string[]
  /** Of the model calls; absent for none. A run's own are in its `RUN_STARTED`. */
  settings?: ModelSettings
}

interface Named {
  name: string
  value: KeptSettings
}

const named = new WeakMap<AgentSettings, Named>()

/**
 * The name of an agent's settings, for the event that begins or takes over a run, and the settings themselves where the
 * last run of the conversation did not name them. A step's prompt is a function of the log and of these, so that it is not kept.
 */
export function keepSettings(
  { runs }: Pick<ConversationState, 'runs'>,
  settings: AgentSettings,
): { name: string; debug?: Record<string, unknown> } {
  const { name, value } = named.get(settings) ?? describe(settings)
  if (runs.at(-1)?.settings === name) return { name }
  return { name, debug: { [name]: value } }
}

function describe(settings: AgentSettings): Named {
  const { model, instructions, tools, later, modelSettings } = settings
  const { provider, modelId } = model
  const value: KeptSettings = {
    model: { provider, modelId },
    instructions,
    tools: toolsForModel(tools),
    ...(later.size > 0 ? { later: [...later] } : {}),
    ...(Object.keys(modelSettings).length > 0 ? { settings: modelSettings } : {}),
  }
  const text = [JSON.stringify({ ...value, tools: [] }), ...value.tools.map(textOf)].join('\n')
  const digest = createHash('sha256').update(text).digest('base64url')
  const described = { name: `settings/${digest.slice(0, 22)}`, value }
  named.set(settings, described)
  return described
}

/** The JSON of tools, which are described once and used by many agents. */
const texts = new WeakMap<object, string>()

function textOf(tool: object): string {
  const text = texts.get(tool) ?? JSON.stringify(tool)
  texts.set(tool, text)
  return text
}
