import { ByrefError } from '../core/errors.ts'
import type { Decide, Session } from './session.ts'

/**
 * Appends what is refused during a run (`conversation_busy`). Where the run is another process's, its end may not have been
 * heard of yet: before it is refused the log is asked.
 */
export async function appendIdle(session: Session, decide: Decide): Promise<void> {
  const { position } = session.state
  try {
    await session.append(decide)
  } catch (error) {
    if (!(error instanceof ByrefError && error.code === 'conversation_busy')) throw error
    await session.refresh()
    if (session.state.position === position) throw error
    await session.append(decide)
  }
}
