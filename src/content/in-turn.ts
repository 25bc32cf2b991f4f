/** Runs what has the same key one after the other, in the order it was asked for. */
export function createTurns(): <T>(key: string, run: () => Promise<T>) => Promise<T> {
  const last = new Map<string, Promise<unknown>>()
  return async function inTurn(key, run) {
    const before = last.get(key)
    const turn = (async () => {
      await before?.catch(() => {})
      return run()
    })()
    last.set(key, turn)
    try {
      return await turn
    } finally {
      if (last.get(key) === turn) last.delete(key)
    }
  }
}
