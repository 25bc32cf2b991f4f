import { expect, it } from 'vitest'
import { createMemoryLog } from './memory-log.ts'

it('reads a whole export as one text, and as lines with an empty one at the end', async () => {
  const log = createMemoryLog()
  const event = { type: 'RUN_CLAIMED', threadId: 'c', runId: 'r', owner: 'o' } as const
  await log.append('c', [event])
  const text = (await Array.fromAsync(log.export('c'))).join('')
  await log.import(text, { id: 'text' })
  await log.import(text.split('\n'), { id: 'lines' })
  for (const id of ['text', 'lines']) {
    expect((await log.read(id)).map((record) => record.event)).toEqual([event])
  }
  await expect(log.import(text.replace('\n', '\n\n'), { id: 'd' })).rejects.toThrow('Line 2: ')
  await expect(log.import(`${text}{}`, { id: 'd' })).rejects.toThrow('Line 4: nothing may follow')
})
