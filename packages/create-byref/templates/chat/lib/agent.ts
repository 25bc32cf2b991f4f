import { mkdirSync } from 'node:fs'
import { type Agent, createAgent } from 'byref'
import { createSqliteLog } from 'byref/sqlite'
import { model } from '../model'
import { drawChart, weather } from './tools'

declare global {
  var agent: Agent | undefined
}

/** The agent. Next.js bundles this file with each route, so the one agent of the process is kept on globalThis. */
export function getAgent(): Agent {
  globalThis.agent ??= openAgent()
  return globalThis.agent
}

function openAgent(): Agent {
  mkdirSync('.data', { recursive: true })
  return createAgent({
    model,
    instructions:
      'You answer questions about the weather. The page shows the charts that you draw.',
    tools: [weather, drawChart],
    log: createSqliteLog('.data/conversations.sqlite'),
    assets: { config: { backend: 'fs', fs: { rootDir: '.data/assets' } } },
  })
}
