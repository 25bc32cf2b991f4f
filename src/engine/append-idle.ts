import { ByrefError } from '../core/errors.ts'
import type { Decide, Thread } from './thread.ts'

/**
 * Appends what is refused during a run (`conversation_busy`). Where the run is another process's, its end may not have been
 * heard of yet: before it is refused the log is asked.
 */
export async function appendIdle(thread: Thread, decide: Decide): Promise<void> {
  const { position } = thread.state
  try {
    await thread.append(decide)
  } catch (error) {
    if (!(error instanceof ByrefError && error.code === 'conversation_busy')) throw error
    await thread.refresh()
    if (thread.state.position === position) throw error
    await thread.append(decide)
  }
}
