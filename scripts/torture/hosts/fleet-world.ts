import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createAgent } from '../../../src/agent/agent.ts'
import { fsBodies } from '../../../src/assets/bodies/fs-bodies.ts'
import { s3Bodies } from '../../../src/assets/bodies/s3-bodies.ts'
import { postgresRecords } from '../../../src/assets/records/postgres-records.ts'
import { createStore } from '../../../src/assets/stores/create-store.ts'
import type { ToolContext } from '../../../src/boundary/tool.ts'
import { createQueue } from '../../../src/hosts/queue.ts'
import { createPostgresLog } from '../../../src/log/postgres-log.ts'
import { fileEffects } from '../runs/effects.ts'
import { createLife } from '../runs/life.ts'
import { plannedModel } from '../runs/planned-model.ts'
import { effectTools } from '../runs/tools.ts'

/** Options for all processes of a fleet. */
export interface FleetWorldOptions {
  connectionString: string
  /** The folder of the effects, and of the bodies if there is no bucket. */
  folder: string
  s3: {
    endpoint: string
    region: string
    accessKeyId: string
    secretAccessKey: string
    bucket: string
  } | null
  /** The time of one call in milliseconds. Default: 20 to 80. */
  callMs?: number
  /** Default: that of the agent. */
  leaseMs?: number
}

/** Retries until the database is available. */
export async function persistently<T>(work: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await work()
    } catch {
      await sleep(200)
    }
  }
}

/** Number of calls of a conversation, one after the other. */
export const STEPS = 10

const TOOLS = ['add', 'put', 'photo']

/** An agent on PostgreSQL and S3 that makes ten calls with effects, and then says "done". */
export function openFleetWorld(options: FleetWorldOptions, onAbort = () => {}) {
  const { connectionString, folder, s3, callMs, leaseMs } = options
  const queue = createQueue({ connectionString })
  const log = createPostgresLog({ connectionString, queue })
  const store = createStore({
    records: postgresRecords({ connectionString }),
    bodies: s3 ? s3Bodies(optionsOf(s3)) : fsBodies(join(folder, 'bodies')),
  })
  const effects = fileEffects(join(folder, 'effects'))
  const plan = Array.from({ length: STEPS }, (_, i) => [
    { name: TOOLS[i % TOOLS.length] as string, arguments: { label: `s${i}`, value: i } },
  ])
  const tools = effectTools(effects, createLife(), () => callMs ?? 20 + Math.random() * 60)
  const agent = createAgent({
    log,
    assets: { store },
    leaseMs,
    model: plannedModel({ plan: () => plan }),
    tools: tools.map((tool) => ({
      ...tool,
      execute(input: unknown, context: ToolContext) {
        context.signal.addEventListener('abort', onAbort, { once: true })
        return tool.execute?.(input, context)
      },
    })),
    limits: { steps: 1000 },
  })
  return {
    queue,
    log,
    store,
    effects,
    agent,
    async close() {
      await agent.close()
      await log.close()
      await queue.close()
    },
  }
}

/** The options of the server have more fields. */
function optionsOf(s3: NonNullable<FleetWorldOptions['s3']>) {
  const { endpoint, region, accessKeyId, secretAccessKey, bucket } = s3
  return { endpoint, region, accessKeyId, secretAccessKey, bucket }
}
