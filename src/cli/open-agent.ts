import { join } from 'node:path'
import { createAgent } from '../agent/agent.ts'
import type { Agent } from '../agent/agent-contract.ts'
import { ByrefError, errorMessage } from '../errors.ts'
import type { ConversationLog } from '../log/conversation-log.ts'
import { createSqliteLog } from '../log/sqlite.ts'
import {
  capabilitiesFromEnvironment,
  modelFromEnvironment,
} from '../model/model-from-environment.ts'
import { starterAgent } from '../starter/starter-agent.ts'
import { DEFAULT_DATA, openFolder } from './data-folder.ts'

/** The agent of the command line, on the data of a folder. */
export interface OpenAgent {
  agent: Agent
  folder: string
  /** Frees the data; runs that are under way go on where it is opened next. */
  close(): Promise<void>
}

/**
 * Opens the data folder, making it if it is not there, with the model that the environment names.
 *
 * @throws ByrefError `config_invalid` for a folder that cannot be used or a model that cannot be loaded.
 */
export async function openAgent(data: string = DEFAULT_DATA): Promise<OpenAgent> {
  const folder = openFolder(data)
  const model = await modelFromEnvironment(process.env)
  const capabilities = capabilitiesFromEnvironment(process.env)
  const log = openLog(join(folder, 'conversations.sqlite'))
  // Not a view of them: each namespace that a token names has its own.
  const assets = { config: { backend: 'fs' as const, fs: { rootDir: join(folder, 'assets') } } }
  const agent = createAgent({ ...starterAgent, model, capabilities, assets, log })
  return {
    agent,
    folder,
    async close() {
      await agent.close()
      await log.close()
    },
  }
}

function openLog(path: string): ConversationLog {
  try {
    return createSqliteLog(path)
  } catch (cause) {
    throw new ByrefError(
      'config_invalid',
      `The log ${path} cannot be opened: ${errorMessage(cause)}`,
      {
        cause,
      },
    )
  }
}
