import { errorText } from './error-text.ts'

/** A notification about something that failed. */
export interface Toast {
  key: number
  text: string
  code?: string
}

const MOST = 3

/** The notifications that a person has not dismissed yet. */
export class ToastList {
  readonly #listeners = new Set<() => void>()
  #toasts: readonly Toast[] = []
  #lastKey = 0

  /** Reports an action that failed. `what` is a whole sentence. */
  readonly tellError = (what: string, error: unknown): void => {
    const { code, message } = errorText(error)
    this.#lastKey += 1
    const toast = { key: this.#lastKey, text: `${what} ${message}`, code }
    this.#change([...this.#toasts.slice(1 - MOST), toast])
  }

  readonly get = (): readonly Toast[] => this.#toasts

  /** Removes one notification. */
  dismiss(key: number): void {
    this.#change(this.#toasts.filter((toast) => toast.key !== key))
  }

  /** Removes all notifications. */
  clear(): void {
    this.#change([])
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  #change(next: readonly Toast[]): void {
    this.#toasts = next
    for (const listener of this.#listeners) listener()
  }
}
