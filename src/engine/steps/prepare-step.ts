import { describeTools } from '../../boundary/describe-tool.ts'
import type { Tool } from '../../boundary/tool.ts'
import { checkOptions, is, type OptionTable } from '../../core/check-options.ts'
import { defined } from '../../core/defined.ts'
import { ByrefError, errorMessage } from '../../core/errors.ts'
import { oncePer, onceResolved } from '../../core/once-resolved.ts'
import { capabilitiesOf } from '../../models/capabilities.ts'
import {
  type LanguageModel,
  MODEL,
  MODEL_SETTINGS,
  type ModelSettings,
  modelSettings,
} from '../../models/language-model.ts'
import type { ModelCapabilities } from '../../models/model-capabilities.ts'
import { type RunScope, workOf } from '../run-scope.ts'
import { checkPrice, type StepSettings } from '../run-settings.ts'
import { hiddenTools, laterTools } from './step-prompts.ts'

const STEP_SETTINGS: OptionTable<StepSettings> = {
  model: MODEL,
  activeTools: is.listOf(is.string),
  settings: is.group(MODEL_SETTINGS),
}

/** What a step changed, for its debug data. */
export interface ChangedSettings {
  model?: { provider: string; modelId: string }
  activeTools?: readonly string[]
  settings?: ModelSettings
}

/** A step that is ready to ask its model. */
export interface PreparedStep {
  /** The scope of the step: `settings` contains its model and its tools. */
  scope: RunScope
  /** The settings of this step alone. */
  settings: ModelSettings
  /** The tools as the model sees them. */
  tools: ReturnType<typeof describeTools>
  /** The capabilities of the model that `prepareStep` chose. Absent for the agent's own model. */
  capabilities?: ModelCapabilities
  /** Absent if nothing changed. */
  changed?: ChangedSettings
}

/**
 * Asks the app for the settings of a step.
 *
 * @throws ByrefError `config_invalid` for invalid settings, an unknown tool, or a model without a price if the run has
 *   a cost limit; any error of `prepareStep`
 */
export async function prepareStep(scope: RunScope, messageId: string): Promise<PreparedStep> {
  const { settings, session } = scope
  const chosen = (await askApp(scope, messageId)) ?? {}
  const { model = settings.model, activeTools } = chosen
  const tools = activeTools ? pickTools(settings.tools, activeTools) : settings.tools
  // Tools that are named for the step are shown.
  const hidden = activeTools
    ? laterTools(settings, session.state)
    : hiddenTools(settings, session.state)
  const stepSettings = modelSettings(chosen.settings)
  const capabilities = chosen.model && (await scope.during(() => capabilitiesOnce(model)()))
  if (capabilities) checkPrice(capabilities, settings.limits)
  return {
    scope: { ...scope, settings: { ...settings, model, tools } },
    settings: stepSettings,
    tools: describeTools(tools, hidden),
    capabilities,
    changed: defined({
      model: chosen.model && { provider: model.provider, modelId: model.modelId },
      activeTools,
      settings: chosen.settings && stepSettings,
    }),
  }
}

/** Prompts are built anew when the object changes, so each model has one. */
const capabilitiesOnce = oncePer((model: LanguageModel) =>
  onceResolved(() => capabilitiesOf(model)),
)

async function askApp(scope: RunScope, messageId: string): Promise<StepSettings | undefined> {
  const { settings, context } = scope
  const { model } = settings
  const work = workOf(scope)
  const stepNumber = work.run.steps.findIndex((step) => step.messageId === messageId)
  const step = { ...work, messageId, model, stepNumber, context }
  const chosen = await scope.during(async () => settings.prepareStep?.(step)).catch(failed)
  if (chosen) checkOptions('prepareStep', chosen, STEP_SETTINGS)
  return chosen
}

/** Throws the error, and says where it comes from. */
function failed(cause: unknown): never {
  if (cause instanceof ByrefError) throw cause
  throw new ByrefError('run_failed', `prepareStep failed: ${errorMessage(cause)}`, { cause })
}

function pickTools(tools: ReadonlyMap<string, Tool>, ids: readonly string[]): Map<string, Tool> {
  const unknown = ids.find((id) => !tools.has(id))
  if (unknown !== undefined) {
    const existing = [...tools.keys()].join(', ')
    throw new ByrefError(
      'config_invalid',
      `Unknown tool "${unknown}" in activeTools of prepareStep. The agent has: ${existing}`,
    )
  }
  return new Map([...tools].filter(([id]) => ids.includes(id)))
}
