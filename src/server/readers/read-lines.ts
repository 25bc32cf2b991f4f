import type { LogRecord } from '../../content/events.ts'
import { isPlainObject } from '../../content/json.ts'
import type { ConversationReader } from './readers.ts'

/** The header of an export in which something is withheld. */
export const WITHHELD_HEADER = 'byref-withheld'

/** The lines of an export (docs/conversation-log.md) as somebody may read them. */
export async function* asReadLines(
  lines: AsyncIterable<string>,
  { its, may, record, shownTo }: ConversationReader,
): AsyncGenerator<string> {
  for await (const line of lines) {
    const value: unknown = JSON.parse(line)
    if (!isPlainObject(value)) continue
    if ('event' in value) yield `${JSON.stringify(record(value as unknown as LogRecord))}\n`
    else if ('debug' in value) {
      // Debug data that are no message's are those of all the runs.
      const label = its.message(String(value.debug)) ? shownTo(String(value.debug)) : its.all
      if (may(label)) yield line
    } else yield may(its.title) ? line : `${JSON.stringify({ ...value, title: null })}\n`
  }
}
