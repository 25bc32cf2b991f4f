type OnAbort = (reason: unknown) => void

/** Who hears of the end of each signal: one listener of the signal for all of them, since these are dear. */
const hearers = new WeakMap<AbortSignal, Set<OnAbort>>()

/**
 * Calls `hear` when the signal aborts, once; returns the function that takes it back.
 *
 * @throws the signal's reason, where it has aborted already
 */
export function onAbort(signal: AbortSignal, hear: OnAbort): () => void {
  signal.throwIfAborted()
  const all = hearers.get(signal) ?? listen(signal)
  all.add(hear)
  return () => {
    all.delete(hear)
  }
}

function listen(signal: AbortSignal): Set<OnAbort> {
  const all = new Set<OnAbort>()
  hearers.set(signal, all)
  const tell = (): void => {
    for (const hear of all) hear(signal.reason)
    all.clear()
  }
  signal.addEventListener('abort', tell, { once: true })
  return all
}
