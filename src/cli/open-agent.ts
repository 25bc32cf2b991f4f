import { demoAgent } from '../../demo/demo-agent.ts'
import { demoModel } from '../../demo/demo-model.ts'
import { createAgent } from '../agent/agent.ts'
import type { Agent } from '../agent/agent-contract.ts'
import { ByrefError } from '../core/errors.ts'
import type { LanguageModel } from '../models/language-model.ts'
import {
  capabilitiesFromEnvironment,
  modelFromEnvironment,
} from '../models/model-from-environment.ts'
import { openStorage, type Storage, type StorageOptions } from './storage.ts'

/** The agent of the command line, on the data that the options name. */
export interface OpenAgent extends Pick<Storage, 'queue'> {
  agent: Agent
  /** Closes the data. Running runs continue when the data is opened again. */
  close(): Promise<void>
}

const KEYS = 'OPENAI_API_KEY, ANTHROPIC_API_KEY or GOOGLE_GENERATIVE_AI_API_KEY'

/**
 * Opens the data, creating what is missing, with the model that the environment names.
 *
 * @throws ByrefError `config_invalid` for data that cannot be used, a model that cannot be loaded, or one without a key
 */
export async function openAgent(options: StorageOptions): Promise<OpenAgent> {
  const model = (await modelFromEnvironment(process.env)) ?? demoModel()
  if (model.provider === 'byref.demo' && process.env.BYREF_MODEL?.trim()) {
    const message = `BYREF_MODEL is set, but no API key. Set ${KEYS}, or OPENAI_BASE_URL. Without BYREF_MODEL, the demo model answers.`
    throw new ByrefError('config_invalid', message)
  }
  const capabilities = capabilitiesFromEnvironment(process.env)
  const { store, log, queue, close } = await openStorage(options)
  const agent = createAgent({
    name: 'byref',
    ...demoAgent,
    model,
    capabilities,
    assets: { store },
    log: log(),
  })
  return {
    agent,
    queue,
    async close() {
      await agent.close()
      await close()
    },
  }
}

/** Returns the name of a model, for people. */
export function describeModel({ provider, modelId }: LanguageModel): string {
  return provider === 'byref.demo'
    ? `demo model (small rules, no AI): set ${KEYS} for a real one`
    : `${modelId} (${provider})`
}
