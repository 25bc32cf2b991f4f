/** What a server says of itself: the part of pino's interface that it uses. */
export interface ServerLogger {
  info(entry: Record<string, unknown>): void
  error(entry: Record<string, unknown>): void
}

/** Says nothing of requests, and failures on stderr. */
export const silent: ServerLogger = {
  info() {},
  error({ err }) {
    console.error(err)
  },
}
