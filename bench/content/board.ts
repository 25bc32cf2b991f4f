import { type Board, createBoard } from '../../src/core/board/board.ts'
import type { Message } from '../../src/core/messages/message.ts'
import { toMessage } from '../../src/core/messages/to-message.ts'
import { measure, printMachine } from './measure.ts'

/**
 * Reads and appends on boards of 10 and of 100,000 messages. The cost of a variable must not depend on the length of
 * the conversation (spec D9).
 */

const shapes = {
  'fields of one object': (i: number) => ({
    data: { [`field${i % 7}`]: i, [`key${i % 1000}`]: { value: i } },
    ref: `†state.field${i % 7}`,
  }),
  'a growing object': (i: number) => ({ data: { [`key${i}`]: i }, ref: `†state.key${i}` }),
  'a growing list': (i: number) => ({
    data: { row: i, text: 'some text' },
    _path: ['rows'],
    _outputMethod: 'push' as const,
    ref: `†state.rows[${i}].row`,
  }),
  instances: (i: number) => ({
    data: { task: i },
    _instance: `worker_${i % 500}`,
    ref: `†state#worker_${i % 500}.task`,
  }),
}

type Shape = (i: number) => { data: unknown; ref: string }

function message(shape: Shape, i: number): Message {
  const { ref, ...block } = shape(i)
  const timestamp = new Date(1.7e12 + i * 1000).toISOString()
  return toMessage({ type: 'data', kind: 'state', id: `message-${i}`, timestamp, ...block })
}

function prepare(shape: Shape, size: number) {
  const messages = Array.from({ length: size }, (_, i) => message(shape, i))
  const board = createBoard(messages)
  let next = size
  // 1,000 reads between appends, at random places that are the same for every size.
  let seed = 42
  const random = (below: number) => {
    seed = (seed * 1103515245 + 12345) % 2147483648
    return Math.floor((seed / 2147483648) * below)
  }
  const picks = Array.from({ length: 1000 }, () => {
    const at = random(size)
    return { ref: shape(random(at + 1)).ref, at: `message-${at}`, now: shape(random(size)).ref }
  })
  const spare = Array.from({ length: 5000 }, (_, i) => message(shape, size + i))
  return {
    now: () => {
      append(board, spare[next++ - size])
      for (const { now } of picks) board.read(now)
    },
    past: () => {
      append(board, spare[next++ - size])
      for (const { ref, at } of picks) board.read(ref, { at })
    },
    append: () => append(board, spare[next++ - size]),
  }
}

function append(board: Board, next: Message | undefined): void {
  if (next) board.append(next)
}

printMachine('Reads and appends on the board')
for (const [name, shape] of Object.entries(shapes)) {
  const small = prepare(shape, 10)
  const large = prepare(shape, 100_000)
  measure(`${name}: 1,000 reads now`, { '10 messages': small.now, '100,000 messages': large.now })
  measure(`${name}: 1,000 reads at past points`, {
    '10 messages': small.past,
    '100,000 messages': large.past,
  })
  measure(
    `${name}: one append`,
    { '10 messages': small.append, '100,000 messages': large.append },
    { rounds: 60, calls: 50 },
  )
}
