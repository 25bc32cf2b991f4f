import { isDeepStrictEqual } from 'node:util'
import { z } from 'zod'
import {
  answerHas,
  answerHasNumber,
  call,
  evalTool,
  inGroup,
  receivedOnly,
  rowsParameter,
  textParameter,
} from '../eval-task.ts'
import { listOrders } from './pass-tasks.ts'

const LABELS = ['urgent', 'normal', 'spam'] as const

/** Tasks in which calls depend on each other, or write data. */
export const CONNECT_TASKS = inGroup('connect', [
  {
    name: 'chain-of-calls',
    about: 'three calls, each with the rows that the one before gives',
    create(random) {
      const [orders, key] = [random.orders(40), random.id('set')]
      const [{ city = '' } = {}] = orders
      const kept = orders.filter((order) => order.city === city)
      return {
        tools: () => [
          listOrders(() => orders),
          evalTool(
            'filter_rows',
            'Keeps the rows of one city',
            { rows: rowsParameter, city: z.string() },
            ({ rows, city: of }) => rows.filter((row) => row.city === of),
          ),
          evalTool(
            'store_rows',
            'Stores rows and gives their key',
            { rows: rowsParameter },
            () => ({ key }),
          ),
        ],
        says: [`Store the orders of ${city}, filtered by filter_rows, and tell me the key.`],
        score: (outcome) =>
          receivedOnly(outcome, 'filter_rows', { rows: orders, city }) ??
          receivedOnly(outcome, 'store_rows', { rows: kept }) ??
          answerHas(outcome, key),
        ideal: (by) => [
          ...by(
            [
              [
                call('list_orders', { _outputPath: '†orders' }),
                call('filter_rows', { rows: '†orders', city, _outputPath: '†kept' }),
                call('store_rows', { rows: '†kept' }),
              ],
            ],
            [
              [call('list_orders')],
              [call('filter_rows', { rows: orders, city })],
              [call('store_rows', { rows: kept })],
            ],
          ),
          `The key is ${key}.`,
        ],
      }
    },
  },
  {
    name: 'append-to-list',
    about: 'append the result of a call to a list in data',
    create(random) {
      const item = (): object => ({ sku: random.id('sku'), price: random.int(5, 80) })
      const basket = { owner: random.names(1).join(), items: [item(), item()] }
      const added = { ...item(), note: random.prose(120) }
      const after = { ...basket, items: [...basket.items, added] }
      return {
        data: { basket },
        tools: (mode, data) => [
          evalTool('draw_item', 'Draws a new item', {}, () => added),
          ...(mode === 'value'
            ? [
                evalTool(
                  'set_data',
                  'Replaces the data of a kind',
                  { kind: z.string(), data: z.unknown() },
                  ({ kind, data: value }) => {
                    data[kind] = value
                    return { done: true }
                  },
                ),
              ]
            : []),
        ],
        says: ['Draw one new item and append it, unchanged, to the list items of the data basket.'],
        score: (outcome) => {
          const isRight = isDeepStrictEqual(outcome.data.basket, after)
          return isRight ? receivedOnly(outcome, 'draw_item', {}) : 'The data basket is wrong'
        },
        ideal: (by) =>
          by(
            [
              [call('draw_item', { _outputPath: '†basket.items', _outputMethod: 'push' })],
              'The item is in the basket.',
            ],
            [
              [call('draw_item')],
              [call('set_data', { kind: 'basket', data: after })],
              'The item is in the basket.',
            ],
          ),
      }
    },
  },
  {
    name: 'each-of-a-list',
    about: 'call a tool for each of 12 texts in data',
    create(random) {
      const comments = Array.from({ length: 12 }, () => ({
        id: random.id('c'),
        text: random.prose(60),
      }))
      const labels = new Map(comments.map(({ text }) => [text, LABELS[random.int(0, 2)]]))
      const urgent = [...labels.values()].filter((label) => label === 'urgent').length
      return {
        data: { inbox: { comments } },
        tools: () => [
          evalTool(
            'classify_text',
            'Classifies one text',
            { text: textParameter },
            ({ text }) => ({ label: labels.get(text) ?? 'unknown' }),
            { idempotent: true },
          ),
        ],
        says: ['Classify the text of each comment in the data inbox. How many are urgent?'],
        score: (outcome) =>
          receivedOnly(outcome, 'classify_text', ...comments.map(({ text }) => ({ text }))) ??
          answerHasNumber(outcome, urgent),
        ideal: (by) => [
          by(
            [call('classify_text', { _each: '†inbox.comments', text: '†item.text' })],
            comments.map(({ text }) => call('classify_text', { text })),
          ),
          `${urgent} comments are urgent.`,
        ],
      }
    },
  },
  {
    name: 'each-then-all',
    about: 'call a tool for each of 10 ids and pass all results on',
    create(random) {
      const ids = Array.from({ length: 10 }, () => random.id('p'))
      const facts = ids.map((id) => ({ id, price: random.int(10, 99), text: random.prose(80) }))
      const page = random.id('page')
      return {
        data: { catalog: { ids } },
        tools: () => [
          evalTool(
            'product_facts',
            'Reads the facts of one product',
            { id: z.string() },
            ({ id }) => facts.find((one) => one.id === id) ?? { id, unknown: true },
            { idempotent: true },
          ),
          evalTool(
            'publish_page',
            'Publishes a list of product facts',
            { facts: rowsParameter },
            () => ({ page }),
          ),
        ],
        says: [
          'Read the facts of each product in the data catalog, then publish one page of all of them in the same order. Tell me the id of the page.',
        ],
        score: (outcome) =>
          receivedOnly(outcome, 'publish_page', { facts }) ?? answerHas(outcome, page),
        ideal: (by) =>
          by(
            [
              [
                call('product_facts', {
                  _each: '†catalog.ids',
                  id: '†item',
                  _outputPath: '†facts',
                }),
                call('publish_page', { facts: '†facts' }),
              ],
              `The page is ${page}.`,
            ],
            [
              ids.map((id) => call('product_facts', { id })),
              [call('publish_page', { facts })],
              `The page is ${page}.`,
            ],
          ),
      }
    },
  },
  {
    name: 'instances',
    about: 'keep three results apart, each under a name of its own',
    create(random) {
      const people = random.names(3).map((name) => ({ name, topic: random.prose(30) }))
      const letters = people.map(({ topic }) => ({ id: random.id('let'), topic }))
      const write = (topic: string): unknown => letters.find((one) => one.topic === topic) ?? null
      const about = 'Writes a letter about a topic'
      return {
        data: { people },
        tools: (mode, data) => [
          mode === 'reference'
            ? evalTool('write_letter', about, { topic: z.string() }, ({ topic }) => write(topic), {
                outputPath: '†letter',
              })
            : evalTool(
                'write_letter',
                about,
                { topic: z.string(), instance: z.string() },
                ({ topic, instance }) => {
                  data[`letter#${instance}`] = write(topic)
                  return data[`letter#${instance}`]
                },
              ),
        ],
        says: [
          'Write a letter to each person in the data people, about the topic given there, word for word. Use the name of the person as the instance.',
        ],
        score: ({ data }) => {
          const wrong = people.find(({ name }, i) => {
            return !isDeepStrictEqual(data[`letter#${name}`], letters[i])
          })
          return wrong ? `The letter of the instance ${wrong.name} is wrong` : null
        },
        ideal: (by) => [
          people.map(({ name, topic }, i) =>
            call(
              'write_letter',
              by({ topic: `†people[${i}].topic`, _instance: name }, { topic, instance: name }),
            ),
          ),
          'The three letters are written.',
        ],
      }
    },
  },
  {
    name: 'small-and-large',
    about: 'pass small values and many rows in one call',
    create(random) {
      const [orders, invoice] = [random.orders(35), random.id('inv')]
      const [name = ''] = random.names(1)
      const customer = { id: random.id('cus'), discount: random.int(3, 25) }
      const parameters = { customer: z.string(), discount: z.number(), rows: rowsParameter }
      return {
        tools: () => [
          listOrders(() => orders),
          evalTool('find_customer', 'Finds a customer', { name: z.string() }, () => customer),
          evalTool('make_invoice', 'Makes an invoice for a customer id', parameters, () => ({
            invoice,
          })),
        ],
        says: [
          `Make an invoice of all orders for ${name}, with the discount of this customer, and tell me its id.`,
        ],
        score: (outcome) =>
          receivedOnly(outcome, 'make_invoice', {
            customer: customer.id,
            discount: customer.discount,
            rows: orders,
          }) ?? answerHas(outcome, invoice),
        ideal: (by) => [
          [call('list_orders'), call('find_customer', { name })],
          [
            call('make_invoice', {
              customer: customer.id,
              discount: customer.discount,
              rows: by('†result#1', orders),
            }),
          ],
          `The invoice is ${invoice}.`,
        ],
      }
    },
  },
])
