import { DBOS, DBOSClient } from '@dbos-inc/dbos-sdk'
import { type Contestant, STEPS } from './contestant.ts'

const QUEUE = 'steps'
const VERSION = 'bench'

/** A workflow with this many steps, each stored in its tables. */
export const dbos: Contestant = {
  name: 'DBOS',
  async enqueue(systemDatabaseUrl, conversations) {
    // The process that launches it creates its tables.
    DBOS.setConfig({ name: 'bench', systemDatabaseUrl, runAdminServer: false, logLevel: 'error' })
    await DBOS.launch()
    await DBOS.shutdown()
    const client = await DBOSClient.create({ systemDatabaseUrl })
    for (let i = 0; i < conversations; i++) {
      await client.enqueue(
        {
          workflowName: 'conversation',
          queueName: QUEUE,
          workflowID: `c${i}`,
          appVersion: VERSION,
        },
        i,
      )
    }
    await client.destroy()
  },
  ended: `SELECT count(*)::int AS n FROM dbos.workflow_status WHERE status = 'SUCCESS'`,
  async work(systemDatabaseUrl, concurrency) {
    DBOS.setConfig({
      name: 'bench',
      systemDatabaseUrl,
      applicationVersion: VERSION,
      runAdminServer: false,
      logLevel: 'error',
      executorID: `${process.pid}`,
    })
    DBOS.registerWorkflow(
      async (_: number) => {
        for (let step = 0; step < STEPS; step++) {
          await DBOS.runStep(async () => step, { name: `step${step}` })
        }
      },
      { name: 'conversation' },
    )
    await DBOS.launch()
    await DBOS.registerQueue(QUEUE, {
      workerConcurrency: concurrency,
      minPollingIntervalMs: 100,
      onConflict: 'always_update',
    })
  },
}
