import { demoAgent } from '../../demo/demo-agent.ts'
import { demoModel } from '../../demo/demo-model.ts'
import { createAgent } from '../agent/agent.ts'
import type { Agent } from '../agent/agent-contract.ts'
import {
  capabilitiesFromEnvironment,
  modelFromEnvironment,
} from '../models/model-from-environment.ts'
import { openStorage, type Storage, type StorageOptions } from './storage.ts'

/** The agent of the command line, on the data that its options name. */
export interface OpenAgent extends Pick<Storage, 'queue'> {
  agent: Agent
  /** Frees the data; runs that are under way go on where it is opened next. */
  close(): Promise<void>
}

/**
 * Opens the data, making what is not there, with the model that the environment names.
 *
 * @throws ByrefError `config_invalid` for data that cannot be used or a model that cannot be loaded.
 */
export async function openAgent(options: StorageOptions): Promise<OpenAgent> {
  const { store, log, queue, close } = await openStorage(options)
  const model = (await modelFromEnvironment(process.env)) ?? demoModel()
  const capabilities = capabilitiesFromEnvironment(process.env)
  const own = { model, capabilities, assets: { store }, log: log() }
  const agent = createAgent({ ...demoAgent, ...own })
  return {
    ...{ agent, queue },
    async close() {
      await agent.close()
      await close()
    },
  }
}
