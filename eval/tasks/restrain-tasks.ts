import { z } from 'zod'
import {
  answerHas,
  answerHasNumber,
  call,
  evalTool,
  inGroup,
  type Outcome,
  receivedOnly,
} from '../eval-task.ts'
import { listOrders, makeReport } from './pass-tasks.ts'

/** Tasks in which references, or tools, do not help. */
export const RESTRAIN_TASKS = inGroup('restrain', [
  {
    name: 'plain-chat',
    about: 'answer without a tool',
    create(random) {
      const [a, b] = [random.int(11, 49), random.int(11, 49)]
      return {
        tools: () => [listOrders(() => random.orders(20)), makeReport(random.id('rep'))],
        says: [`What is ${a} plus ${b}? Answer with the number alone.`],
        score: (outcome) => atMost(outcome, 0) ?? answerHasNumber(outcome, a + b),
        ideal: () => [String(a + b)],
      }
    },
  },
  {
    name: 'small-result',
    about: 'answer from a small result, without a second call',
    create(random) {
      const rate = random.int(10_001, 19_999) / 10_000
      return {
        tools: () => [getRate(rate)],
        says: ['What is the rate of the euro today?'],
        score: (outcome) =>
          atMost(outcome, 1) ?? answerHasNumber(outcome, rate) ?? inPlainWords(outcome),
        ideal: () => [[call('get_rate', { currency: 'EUR' })], `It is ${rate}.`],
      }
    },
  },
  {
    name: 'small-argument',
    about: 'pass a small result on, in two calls',
    create(random) {
      const [rate, amount] = [random.int(10_001, 19_999) / 10_000, random.int(100, 900)]
      const receipt = random.id('rec')
      return {
        tools: () => [
          getRate(rate),
          evalTool(
            'exchange',
            'Exchanges an amount at a rate',
            { amount: z.number(), rate: z.number() },
            () => ({ receipt }),
          ),
        ],
        says: [`Exchange ${amount} euros at the rate of today, and tell me the receipt.`],
        score: (outcome) =>
          atMost(outcome, 2) ??
          receivedOnly(outcome, 'exchange', { amount, rate }) ??
          answerHas(outcome, receipt),
        ideal: () => [
          [call('get_rate', { currency: 'EUR' })],
          [call('exchange', { amount, rate })],
          `The receipt is ${receipt}.`,
        ],
      }
    },
  },
])

function getRate(rate: number) {
  return evalTool('get_rate', 'Gives the rate of a currency', { currency: z.string() }, () => ({
    rate,
  }))
}

function atMost({ written }: Outcome, calls: number): string | null {
  if (written.length <= calls) return null
  return `There were ${written.length} calls, and ${calls} are enough`
}

function inPlainWords({ answer }: Outcome): string | null {
  return /†|asset:\/\//.test(answer) ? 'The answer has a reference in place of a value' : null
}
