import { type DataTarget, outputTargets, overlaps, variableTargets } from './data-targets.ts'
import type { ModelCall } from './read-response.ts'
import { recordCall } from './record-call.ts'
import { runCall } from './run-call.ts'
import type { RunSettings } from './run-settings.ts'
import type { Thread } from './thread.ts'

/**
 * Runs the calls of one answer. They run at once, but one whose `†` reads what an earlier call of the same answer
 * writes waits for that one's result. Results are logged, and their data written, in the order of the answer.
 */
export async function runCalls(
  thread: Thread,
  calls: readonly ModelCall[],
  options: RunSettings,
): Promise<void> {
  const writes: DataTarget[][] = calls.map((call) => outputTargets(call, options.tools))
  const recorded: Promise<void>[] = []
  for (const [i, call] of calls.entries()) {
    const reads = variableTargets(call.arguments)
    const sources = recorded.filter((_, j) => overlaps(reads, writes[j] ?? []))
    const before = recorded[i - 1]
    const work = async (): Promise<void> => {
      await Promise.all(sources)
      const outcome = await runCall(thread, call, options)
      await before
      await recordCall(thread, call, outcome, options)
    }
    recorded.push(work())
  }
  // Every call comes to its end before the run goes on or fails.
  const settled = await Promise.allSettled(recorded)
  const failed = settled.find((result) => result.status === 'rejected')
  if (failed) throw failed.reason
}
