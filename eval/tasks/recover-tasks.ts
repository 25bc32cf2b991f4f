import { z } from 'zod'
import {
  answerHas,
  answerHasNumber,
  call,
  evalTool,
  inGroup,
  neverCalled,
  receivedOnly,
  rowsParameter,
} from '../eval-task.ts'
import { archiveText, listOrders, sumColumn } from './pass-tasks.ts'

/** Tasks in which something goes wrong at first. */
export const RECOVER_TASKS = inGroup('recover', [
  {
    name: 'unknown-name',
    about: 'the user names data that is not there; similar data is',
    create(random) {
      const [rows, total] = [random.orders(30), random.int(10_000, 99_999)]
      return {
        data: { orders_2026: { rows } },
        tools: () => [sumColumn(total)],
        says: (by) => [
          `Add up the column amount of ${by('†orders.rows', 'the rows of the data "orders"')} with sum_column. If there is no such data, use the data with the most similar name. What is the total?`,
        ],
        score: (outcome) =>
          receivedOnly(outcome, 'sum_column', { rows, column: 'amount' }) ??
          answerHasNumber(outcome, total),
        ideal: (by) => [
          ...by([[call('sum_column', { rows: '†orders.rows', column: 'amount' })]], []),
          [call('sum_column', { rows: by('†orders_2026.rows', rows), column: 'amount' })],
          `The total is ${total}.`,
        ],
      }
    },
  },
  {
    name: 'no-such-field',
    about: 'the user names a field that is not there; a similar one is',
    create(random) {
      const [name = ''] = random.names(1)
      const customer = { name, city: 'Oslo', remarks: random.prose(700) }
      const key = random.id('arc')
      return {
        data: { customer },
        tools: () => [archiveText(key)],
        says: (by) => [
          `Archive ${by('†customer.notes', 'the field notes of the data "customer"')}, unchanged. If the field has another name, find the right one. Tell me the key.`,
        ],
        score: (outcome) =>
          receivedOnly(outcome, 'archive_text', { text: customer.remarks }) ??
          answerHas(outcome, key),
        ideal: (by) => [
          ...by([[call('archive_text', { text: '†customer.notes' })]], []),
          [call('archive_text', { text: by('†customer.remarks', customer.remarks) })],
          `The key is ${key}.`,
        ],
      }
    },
  },
  {
    name: 'wrong-type',
    about: 'a value in data has another type than the parameter',
    create(random) {
      const [seats, booking] = [random.int(11, 60), random.id('bk')]
      return {
        data: { plan: { title: random.id('plan'), seats: `${seats} seats` } },
        tools: () => [
          evalTool('book_seats', 'Books seats', { seats: z.int() }, () => ({ booking })),
        ],
        says: ['Book as many seats as the data plan says, and tell me the booking.'],
        score: (outcome) =>
          receivedOnly(outcome, 'book_seats', { seats }) ?? answerHas(outcome, booking),
        ideal: (by) => [
          [call('book_seats', { seats: by('†plan.seats', `${seats} seats`) })],
          [call('book_seats', { seats })],
          `The booking is ${booking}.`,
        ],
      }
    },
  },
  {
    name: 'invalid-argument',
    about: 'a tool refuses how an argument is written and says how to write it',
    create(random) {
      const [number, booking] = [random.int(100, 999), random.id('bk')]
      const room = z
        .string()
        .refine((text) => /^[A-Z]-\d{3}$/.test(text), 'must be written like "D-417"')
      return {
        tools: () => [evalTool('book_room', 'Books a room', { room }, () => ({ booking }))],
        says: [`Book the room b${number} and tell me the booking.`],
        score: (outcome) =>
          receivedOnly(outcome, 'book_room', { room: `B-${number}` }) ??
          answerHas(outcome, booking),
        ideal: () => [
          [call('book_room', { room: `b${number}` })],
          [call('book_room', { room: `B-${number}` })],
          `The booking is ${booking}.`,
        ],
      }
    },
  },
  {
    name: 'failing-tool',
    about: 'a tool fails once and asks for the same call again',
    create(random) {
      const [orders, ticket] = [random.orders(30), random.id('tic')]
      return {
        tools: () => {
          let calls = 0
          return [
            listOrders(() => orders),
            evalTool('send_rows', 'Sends rows to the archive', { rows: rowsParameter }, () => {
              if (calls++ > 0) return { ticket }
              throw new Error('The archive was busy. Call once more with the same arguments.')
            }),
          ]
        },
        says: ['Send all orders to the archive and tell me the ticket.'],
        score: (outcome) =>
          receivedOnly(outcome, 'send_rows', { rows: orders }, { rows: orders }) ??
          answerHas(outcome, ticket),
        ideal: (by) => [
          [call('list_orders')],
          [call('send_rows', { rows: by('†result#1', orders) })],
          [call('send_rows', { rows: by('†result#1', orders) })],
          `The ticket is ${ticket}.`,
        ],
      }
    },
  },
  {
    name: 'missing-file',
    about: 'the user names a file that is not attached, and nothing like it is',
    create(random) {
      const text = random.prose(600)
      return {
        files: [{ name: 'menu.txt', text }],
        tools: () => [archiveText(random.id('arc'))],
        says: [
          'Archive the text of contract-appendix.txt. If that file is not attached, archive nothing, and answer with the word MISSING.',
        ],
        score: (outcome) => neverCalled(outcome, 'archive_text') ?? answerHas(outcome, 'MISSING'),
        ideal: () => ['MISSING'],
      }
    },
  },
])
