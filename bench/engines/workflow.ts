// `WorkflowAgent` of the AI SDK on the local world of Vercel's Workflow SDK, which stores each step in files.
import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { createWorld } from '@workflow/world-local'
import { tool } from 'ai'
import { getRun, start } from 'workflow/api'
import { setWorld } from 'workflow/runtime'
import { z } from 'zod'
import { byReference } from '../../src/integrations/ai-sdk/index.ts'
import { scriptedModel } from '../../src/testing/index.ts'
import { byrefOptions, callOf, type Engine, type Outcome, type RunOptions } from './engine.ts'
import { BENCH, type Bench } from './workflow/bench-workflow.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const BUILDER = join(root, 'src/integrations/workflow/fixtures/build-workflow.ts')
const SOURCES = join(root, 'bench/engines/workflow')
// Inside the project, because the bundle imports packages. Each run of the benchmark builds it once.
const BUNDLES = join(root, '.cache', `bench-workflow-${process.ppid}`)
const BUNDLE = join(BUNDLES, 'workflows.mjs')

// Runs before the time of a run is measured.
if (process.argv[2]?.includes('"Workflow') && !existsSync(BUNDLE)) {
  execFileSync(process.execPath, ['--conditions=byref-source', BUILDER, SOURCES, BUNDLES])
}

export const workflow: readonly Engine[] = [
  engine('bare', 'byValue', 0),
  engine('byref', 'byReference', 5),
]

function engine(way: string, name: string, linesChanged: number): Engine {
  const run = (options: RunOptions) => runWorkflow(name, options)
  return {
    name: `Workflow, ${way}`,
    linesChanged,
    packages: ['ai'],
    stored: 'world/**/',
    hasLongThreads: false,
    run,
  }
}

async function runWorkflow(
  name: string,
  { workload, folder, onStep, resumes }: RunOptions,
): Promise<Outcome> {
  // A step is stored before it runs, and another process can run it at once.
  Object.assign(process.env, {
    WORKFLOW_OPTIMISTIC_INLINE_START: '0',
    WORKFLOW_INLINE_OWNERSHIP_LEASE_SECONDS: '1',
  })
  const model = scriptedModel(({ prompt }) => {
    const at = prompt.filter(({ role }) => role === 'tool').length
    if (at === workload.steps) return 'Done.'
    return { calls: [callOf(at)] }
  })
  const work = ({ step }: { step: number }) => {
    onStep(step)
    return workload.result(step)
  }
  const tools = {
    work: tool({
      description: 'Works',
      inputSchema: z.object({ step: z.number() }),
      execute: work,
    }),
  }
  const refs = byReference(byrefOptions(folder))
  // Its types are those of the copy of the AI SDK at the root.
  const agent = refs.durable({ model, tools: tools as never })
  const bench: Bench = { model, work, agent }
  Reflect.set(globalThis, BENCH, bench)

  const { POST } = await import(pathToFileURL(BUNDLE).href)
  const world = createWorld({ dataDir: join(folder, 'world'), recoverActiveRuns: resumes })
  world.registerHandler('__wkf_workflow_', POST)
  setWorld(world)
  await world.start?.()
  const workflowId = `workflow//./bench-workflow//${name}`
  const run = resumes
    ? getRun((await world.runs.list({})).data[0]?.runId ?? '')
    : await start({ workflowId }, [])
  await run.returnValue
  const { prompt: lastPrompt = [], tools: shown } = model.requests.at(-1) ?? {}
  const results = lastPrompt.flatMap(({ role, content }) =>
    role === 'tool'
      ? content.flatMap((part) => (part.type === 'tool-result' ? JSON.stringify(part.output) : []))
      : [],
  )
  const isByref = name === 'byReference'
  return { lastPrompt, tools: shown, results, assets: isByref ? refs.assets : null }
}
