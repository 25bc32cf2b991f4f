import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { Listeners } from './listeners.ts'

const thrown: unknown[] = []
let others: NodeJS.UncaughtExceptionListener[] = []
const take = (error: unknown): void => void thrown.push(error)

beforeEach(() => {
  thrown.length = 0
  others = process.listeners('uncaughtException')
  process.removeAllListeners('uncaughtException')
  process.on('uncaughtException', take)
})

afterEach(() => {
  process.off('uncaughtException', take)
  for (const other of others) process.on('uncaughtException', other)
})

describe('Listeners', () => {
  it('reports errors of subscribers, and notifies all of them', async () => {
    const listeners = new Listeners()
    const told: string[] = []
    const wants = (): boolean => {
      throw new Error('a bug of wants')
    }
    listeners.add(() => told.push('first'), { namespace: null, wants })
    const listener = (): void => {
      throw new Error('a bug of a listener')
    }
    listeners.add(listener, { namespace: null })
    listeners.add(() => told.push('last'), { namespace: null })
    listeners.notify({ conversation: 'c', namespace: null, records: [] })
    expect(listeners.wants('c', null)).toBe(true)
    expect(told).toEqual(['first', 'last'])
    await expect
      .poll(() => thrown.map(String))
      .toEqual(['Error: a bug of wants', 'Error: a bug of a listener', 'Error: a bug of wants'])
  })
})
