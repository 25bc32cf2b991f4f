import { describe, it } from 'vitest'
import { emptiedSchema, newSchema, type TestPlace } from '../postgres/fixtures/schemas.ts'
import { testConversationLog } from '../testing/conversation-log.ts'
import type { ConversationLog } from './conversation-log.ts'
import { createPostgresLog } from './postgres-log.ts'

describe('createPostgresLog', () => {
  const nextPlace = emptiedSchema()
  const places = new WeakMap<ConversationLog, TestPlace>()
  testConversationLog(
    async () => {
      const place = await nextPlace()
      const log = createPostgresLog(place)
      places.set(log, place)
      return log
    },
    it,
    { again: (log) => createPostgresLog(places.get(log) ?? newSchema()) },
  )
})
