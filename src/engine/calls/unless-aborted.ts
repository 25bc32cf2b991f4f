import { onAbort } from '../../models/on-abort.ts'

/** Work that pays no attention to the signal does not keep whoever waits: its outcome then comes to nothing. */
export function unlessAborted<T>(signal: AbortSignal, work: () => T | Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const forget = onAbort(signal, reject)
    const settle = (end: () => void): void => {
      forget()
      end()
    }
    Promise.resolve(work()).then(
      (value) => settle(() => resolve(value)),
      (error) => settle(() => reject(error)),
    )
  })
}
