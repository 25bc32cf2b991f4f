import { errorText } from './error-text.ts'
import { Listeners } from './listeners.ts'

/** A notification about something that failed, or that was done elsewhere on the page. */
export interface Toast {
  key: number
  tone: 'bad' | 'info'
  text: string
  code?: string
}

const MOST = 3

/** The notifications that a person has not dismissed yet. */
export class ToastList {
  readonly #listeners = new Listeners()
  readonly subscribe = this.#listeners.subscribe
  #toasts: readonly Toast[] = []
  #lastKey = 0

  /** Reports an action that failed. `what` is a whole sentence. */
  readonly tellError = (what: string, error: unknown): void => {
    const { code, message } = errorText(error)
    this.#add({ tone: 'bad', text: `${what} ${message}`, code })
  }

  /** Says what was done. `what` is a whole sentence. It replaces the last such notification. */
  readonly tell = (what: string): void => {
    this.#toasts = this.#toasts.filter(({ tone }) => tone !== 'info')
    this.#add({ tone: 'info', text: what })
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

  #add(toast: Omit<Toast, 'key'>): void {
    this.#lastKey += 1
    this.#change([...this.#toasts.slice(1 - MOST), { ...toast, key: this.#lastKey }])
  }

  #change(next: readonly Toast[]): void {
    this.#toasts = next
    this.#listeners.tell()
  }
}
