import { useRef, useState } from 'react'

/** An action of a person, such as a request, and what became of it. */
export interface Action<Values extends unknown[], Result> {
  /** Performs the action, unless it is being performed. */
  run: (...values: Values) => void
  isBusy: boolean
  /** Undefined until it has succeeded. */
  result?: Result
  /** Why it failed. Null if it did not. */
  error: unknown
}

/** Returns an action with its state. It can be performed again. */
export function useAction<Values extends unknown[], Result>(
  perform: (...values: Values) => Promise<Result>,
): Action<Values, Result> {
  const [state, setState] = useState<Omit<Action<Values, Result>, 'run'>>(IDLE)
  // Two calls may come before the next rendering.
  const isRunning = useRef(false)
  async function run(...values: Values): Promise<void> {
    if (isRunning.current) return
    isRunning.current = true
    setState({ isBusy: true, error: null })
    try {
      const result = await perform(...values)
      setState({ isBusy: false, result, error: null })
    } catch (error) {
      setState({ isBusy: false, error })
    } finally {
      isRunning.current = false
    }
  }
  return { ...state, run: (...values) => void run(...values) }
}

const IDLE = { isBusy: false, error: null }
