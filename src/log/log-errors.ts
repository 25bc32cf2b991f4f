import { ByrefError } from '../core/errors.ts'

/** For every use of a log after `close`. */
export function closedError(): ByrefError {
  return new ByrefError('log_failed', 'The conversation log is closed: open it again')
}

/** For a conversation that is not there. */
export function notFoundError(conversation: string): ByrefError {
  return new ByrefError('conversation_not_found', `There is no conversation "${conversation}"`)
}

/** For an import under an id that is taken. */
export function existsError(conversation: string): ByrefError {
  return new ByrefError(
    'conversation_exists',
    `There is a conversation "${conversation}" already: delete it, or import under another id`,
  )
}
