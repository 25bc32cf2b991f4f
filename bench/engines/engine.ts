import { createCipheriv } from 'node:crypto'
import { renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Assets } from '../../src/assets/assets-contract.ts'

/** The work of an agent: calls of a tool `work({ step })`, one per step, and then an answer. */
export interface Workload {
  steps: number
  /** Returns the result of a call. It is equal for equal steps, in any process. */
  result(step: number): unknown
}

/** One run of a workload. */
export interface RunOptions {
  workload: Workload
  /** The folder in which the framework stores its thread, and byref its assets. */
  folder: string
  /** Called by the tool before it returns. */
  onStep(step: number): void
  /** Whether the folder has a thread that another process started and did not finish. */
  resumes: boolean
}

/** The result of a run. */
export interface Outcome {
  /** The instructions and messages of the last request, as a provider gets them. */
  lastPrompt: unknown
  /** The tools of this request, with descriptions and schemas. */
  tools: unknown
  /** What the model saw of all results, in order. */
  results: readonly string[]
  /** The places of the references in results. Null without byref. */
  assets: Assets | null
}

/** One way to run an agent in a framework: bare, or with byref. A new framework is a file with a list of these. */
export interface Engine {
  /** The framework and the variant. */
  name: string
  /** Lines of the app that differ from the bare way. */
  linesChanged: number
  /** The packages, for their versions. */
  packages: readonly string[]
  /** The file or the folder in which the framework stores its thread. */
  stored: string
  /** Whether a thread of 1,000 steps takes minutes and not hours. */
  hasLongThreads: boolean
  run(options: RunOptions): Promise<Outcome>
}

/** The folder of byref's assets in a run's folder. */
export const ASSETS = 'assets'

/** byref's settings for every framework: assets are files, and results above 2,048 characters become references. */
export function byrefOptions(folder: string) {
  const rootDir = join(folder, ASSETS)
  return {
    maxResultChars: 2_048,
    assets: { config: { backend: 'fs' as const, fs: { rootDir } } },
  }
}

/** Replaces a file, so that a kill leaves either the old text or the new one. */
export function replaceFile(file: string, text: string): void {
  writeFileSync(`${file}.new`, text)
  renameSync(`${file}.new`, file)
}

/** The call that a model makes in a step. */
export function callOf(step: number): { id: string; name: 'work'; arguments: { step: number } } {
  return { id: `call-${step}`, name: 'work', arguments: { step } }
}

/** Workloads by name. */
export const WORKLOADS: Readonly<Record<string, Workload>> = {
  // Ten images of 1 MB, then a table of 50 MB.
  media: {
    steps: 11,
    result(step) {
      if (step < 10) return { mimeType: 'image/png', data: imageOf(step) }
      return {
        rows: Array.from({ length: 500_000 }, (_, id) => ({
          id: 1_000_000 + id,
          city: `city ${id % 997}`,
          note: 'a measurement of the river, in centimetres, by gauge',
        })),
      }
    },
  },
  // Small results, which stay unchanged.
  small: {
    steps: 100,
    result: (step) => ({ step, city: 'Bonn', level: 3.27, note: 'The river rises slowly.' }),
  },
  // A long thread with results of 20 kB.
  thread: {
    steps: 1000,
    result: (step) => ({
      step,
      lines: Array.from({ length: 200 }, (_, line) => `${step}.${line} ${'measured '.repeat(10)}`),
    }),
  },
}

function imageOf(step: number): string {
  // Noise, because some frameworks compress what they store.
  const noise = createCipheriv('aes-128-ctr', Buffer.alloc(16, step), Buffer.alloc(16))
  const image = noise.update(Buffer.alloc(1_000_000))
  image.set([137, 80, 78, 71, 13, 10, 26, 10])
  return image.toString('base64')
}
