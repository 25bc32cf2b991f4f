import { z } from 'zod'
import {
  answerHas,
  answerHasNumber,
  assetIn,
  call,
  evalTool,
  inGroup,
  receivedOnly,
  textParameter,
} from '../eval-task.ts'
import type { Random } from '../random.ts'
import { listOrders } from './pass-tasks.ts'

/** Lines of a log: more than 32,768 characters, so that by reference the model gets a preview. */
const LINES = 700

/** Tasks about results that are too large for a prompt. */
export const READ_TASKS = inGroup('read', [
  {
    name: 'read-a-line',
    about: 'read one line in the middle of a large result',
    create(random) {
      const [lines, at] = [logLines(random), random.int(300, 600)]
      const code = random.int(100_000, 999_999)
      lines[at - 1] = `line ${at} service=${random.id('svc')} level=info code=${code}`
      return {
        tools: () => [readLog(lines)],
        says: [`Read the log. Which code is in line ${at}?`],
        score: (outcome) => answerHasNumber(outcome, code),
        ideal: (by) => [
          [call('read_log')],
          ...by(
            [
              (seen: string) => [
                call('fetch_asset', { ref: largeIn(seen), startLine: at, endLine: at }),
              ],
            ],
            [],
          ),
          `The code is ${code}.`,
        ],
      }
    },
  },
  {
    name: 'search-a-text',
    about: 'find the one line of a large result that matters',
    create(random) {
      const [lines, at] = [logLines(random), random.int(200, 650)]
      const service = random.id('svc')
      lines[at - 1] = `line ${at} service=${service} level=fatal code=${random.int(1000, 9999)}`
      return {
        tools: () => [readLog(lines)],
        says: ['Read the log. Exactly one line has the level fatal. Which service wrote it?'],
        score: (outcome) => answerHas(outcome, service),
        ideal: (by) => [
          [call('read_log')],
          ...by(
            [
              (seen: string) => [
                call('search_asset', { ref: largeIn(seen), query: 'level=fatal' }),
              ],
            ],
            [],
          ),
          `The service ${service} wrote it.`,
        ],
      }
    },
  },
  {
    name: 'pass-a-large-text',
    about: 'pass a large result, of which the model sees a preview, to a tool',
    create(random) {
      const [lines, count] = [logLines(random), random.int(100, 600)]
      const parameters = { text: textParameter, word: z.string() }
      return {
        tools: () => [
          readLog(lines),
          evalTool('count_word', 'Counts a word in a text', parameters, () => ({ count })),
        ],
        says: [
          'Read the log, and use count_word: how often does the word warn occur in all of it?',
        ],
        score: (outcome) =>
          receivedOnly(outcome, 'count_word', { text: lines.join('\n'), word: 'warn' }) ??
          answerHasNumber(outcome, count),
        ideal: (by) => [
          [call('read_log')],
          [call('count_word', { text: by('†result#1', lines.join('\n')), word: 'warn' })],
          `It occurs ${count} times.`,
        ],
      }
    },
  },
  {
    name: 'preview-suffices',
    about: 'answer from the beginning of a large result',
    create(random) {
      const orders = random.orders(550)
      const [first] = orders
      return {
        tools: () => [listOrders(() => orders)],
        says: ['List the orders. What is the id of the first one?'],
        score: (outcome) => answerHas(outcome, first?.id ?? ''),
        ideal: () => [[call('list_orders')], `It is ${first?.id}.`],
      }
    },
  },
])

function readLog(lines: readonly string[]) {
  return evalTool('read_log', 'Reads the log of today', {}, () => lines.join('\n'))
}

function logLines(random: Random): string[] {
  return Array.from({ length: LINES }, (_, i) => {
    const level = random.pick(['info', 'warn', 'debug'], 1).join()
    return `line ${i + 1} service=${random.id('svc')} level=${level} code=${random.int(1000, 9999)}`
  })
}

/** Returns the reference of the large result that a prompt shows. */
function largeIn(seen: string): string {
  return /asset:\/\/[\w-]{20,}/.exec(seen)?.[0] ?? assetIn(seen)
}
