import type { CallResult } from './record-call.ts'

/** What calls came to that is not recorded yet: it is recorded in the order of the answer. */
export interface EndedCalls {
  /** The next call of the answer. */
  expect(id: string): void
  add(result: CallResult): void
  readonly isEmpty: boolean
  /** Records what has ended, as far as its turn has come; to be asked again whenever calls come or are held. */
  record(): Promise<void>
}

/** Begins with the calls that there are. */
export function createEndedCalls(
  ids: readonly string[],
  options: {
    takeTurn(id: string): boolean
    record(results: readonly CallResult[]): Promise<void>
  },
): EndedCalls {
  const ended: CallResult[] = []
  const order = new Map(ids.map((id, i) => [id, i]))
  const placeOf = ({ plan }: CallResult): number => order.get(plan.id) ?? 0
  let isRecording = false

  /** The results whose turn it is. */
  function inTurn(): CallResult[] {
    const results = ended.filter(({ plan }) => options.takeTurn(plan.id))
    for (const result of results) ended.splice(ended.indexOf(result), 1)
    return results
  }

  return {
    expect(id) {
      order.set(id, order.size)
    },
    add(result) {
      const place = placeOf(result)
      const at = ended.findLastIndex((one) => placeOf(one) < place)
      ended.splice(at + 1, 0, result)
    },
    get isEmpty() {
      return ended.length === 0
    },
    async record() {
      if (isRecording) return
      isRecording = true
      for (let results = inTurn(); results.length > 0; results = inTurn()) {
        await options.record(results)
      }
      isRecording = false
    },
  }
}
