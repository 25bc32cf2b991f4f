import { describe, it } from 'vitest'
import { testConversationLog } from '../testing/conversation-log.ts'
import { createMemoryLog } from './memory.ts'

describe('createMemoryLog', () => {
  testConversationLog(createMemoryLog, it)
})
