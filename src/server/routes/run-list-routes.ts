import * as wire from '../../wire/runs.ts'
import { publicRun } from '../public-info.ts'
import { type Route, route } from '../route.ts'

/** Runs of all conversations of the caller's namespace, and what they cost. */
export const runListRoutes: readonly Route[] = [
  route(
    'GET /api/runs',
    {
      role: 'reader',
      summary: 'Runs of all conversations by pages, newest first',
      query: wire.runsQuery,
      answers: { 200: wire.runsPage },
    },
    async ({ query, reader, agent, json }) => {
      const { log } = agent()
      const { runs, next } = await log.runs(query)
      const shown = []
      for (const run of runs) {
        // Like the list of conversations: without titles that the caller may not read.
        const about = { id: run.conversation, title: run.title }
        const { title } = (await reader?.summary(log, about)) ?? about
        shown.push(publicRun({ ...run, title }))
      }
      return json({ runs: shown, next })
    },
  ),
  route(
    'GET /api/costs',
    {
      role: 'reader',
      summary: 'What runs cost, by period and by model or agent',
      query: wire.costsQuery,
      answers: { 200: wire.costsAnswer },
    },
    async ({ query, agent, json }) => json({ costs: await agent().log.costs(query) }),
  ),
]
