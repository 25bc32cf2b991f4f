/**
 * Returns whether a server at a URL rejected a request because it does not know its session. It has not run the request
 * then. Some servers answer with 400 in place of 404.
 */
export function isUnknownSession(error: unknown, sessionId: string | undefined): boolean {
  const { status, message } = Object(error) as { status?: number; message?: string }
  if (status === 404) return true
  return status === 400 && sessionId !== undefined && /session/i.test(message ?? '')
}
