import { accessSync, constants, existsSync, mkdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { type Agent, createAgent } from '../agent/agent.ts'
import { ByrefError, errorMessage } from '../errors.ts'
import type { ConversationLog } from '../log/conversation-log.ts'
import { createSqliteLog } from '../log/sqlite.ts'
import {
  capabilitiesFromEnvironment,
  modelFromEnvironment,
} from '../model/model-from-environment.ts'
import { starterAgent } from '../starter/starter-agent.ts'

/** Where `serve`, `run` and `assets` keep everything unless told otherwise. */
export const DEFAULT_DATA = 'data'

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

/**
 * The data folder, made if it is not there; or, unless it is to be made, one that is there and can be read.
 *
 * @throws ByrefError `config_invalid`
 */
export function openFolder(data: string, { make = true } = {}): string {
  const folder = resolve(data)
  if (!make && !existsSync(folder)) {
    throw new ByrefError(
      'config_invalid',
      `There is no data folder ${folder}: name another with --data`,
    )
  }
  try {
    if (make) mkdirSync(folder, { recursive: true })
    accessSync(folder, constants.R_OK | constants.X_OK | (make ? constants.W_OK : 0))
  } catch (cause) {
    throw new ByrefError(
      'config_invalid',
      `The data folder ${folder} cannot be used (${errorMessage(cause)}): choose another with --data, or mend its permissions`,
      { cause },
    )
  }
  return folder
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
