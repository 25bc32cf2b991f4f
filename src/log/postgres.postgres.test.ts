import { describe, it } from 'vitest'
import { newSchema } from '../postgres/fixtures/schemas.ts'
import { testConversationLog } from '../testing/conversation-log.ts'
import type { ConversationLog } from './conversation-log.ts'
import { createPostgresLog } from './postgres.ts'

describe('createPostgresLog', () => {
  const places = new WeakMap<ConversationLog, ReturnType<typeof newSchema>>()
  testConversationLog(
    () => {
      const place = newSchema()
      const log = createPostgresLog(place)
      places.set(log, place)
      return log
    },
    it,
    { again: (log) => createPostgresLog(places.get(log) ?? newSchema()) },
  )
})
