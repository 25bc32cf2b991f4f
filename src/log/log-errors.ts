import { ByrefError } from '../core/errors.ts'

/** For calls after `close`. */
export function closedError(): ByrefError {
  return new ByrefError('log_failed', 'The conversation log is closed: open it again')
}

/** For an unknown conversation. */
export function notFoundError(conversation: string): ByrefError {
  return new ByrefError('conversation_not_found', `There is no conversation "${conversation}"`)
}

/** For an import under an existing id. */
export function existsError(conversation: string): ByrefError {
  return new ByrefError(
    'conversation_exists',
    `The conversation "${conversation}" already exists: delete it, or import with another id`,
  )
}
