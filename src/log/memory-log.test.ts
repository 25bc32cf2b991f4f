import { describe, it } from 'vitest'
import { testConversationLog } from '../testing/conversation-log.ts'
import { createMemoryLog } from './memory-log.ts'

describe('createMemoryLog', () => {
  testConversationLog(createMemoryLog, it)
})
