/** What an agent does: calls of a tool `work({ step })`, one a step, and then an answer. */
export interface Workload {
  steps: number
  /** The result of a call. Equal for equal steps, in any process. */
  result(step: number): unknown
}

/** One run of a workload. */
export interface RunOptions {
  workload: Workload
  /** Where the framework keeps its thread, and byref its assets. */
  folder: string
  /** Called by the tool, before it returns. */
  onStep(step: number): void
  /** Whether the folder has a thread that another process began and did not end. */
  resumes: boolean
}

/** What a run left. */
export interface Outcome {
  /** The messages of the last request, as a provider gets them. */
  lastPrompt: unknown
  /** What the model was shown of all results, in order. */
  results: readonly string[]
}

/** One way to run an agent in a framework: bare, or with byref. A new framework is a file with a list of these. */
export interface Engine {
  /** The framework and the way. */
  name: string
  /** Lines of the app that differ from the bare way. */
  linesChanged: number
  /** The packages, for their versions. */
  packages: readonly string[]
  /** The file or the folder in which the framework stores its thread. */
  stored: string
  run(options: RunOptions): Promise<Outcome>
}

/** The folder of byref's assets in a run's folder. */
export const ASSETS = 'assets'

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
  const image = Buffer.alloc(1_000_000, 200 + step)
  image.set([137, 80, 78, 71, 13, 10, 26, 10])
  return image.toString('base64')
}
