import type { LanguageModel } from './language-model.ts'

/** The model's provider says that it is asked too much, for longer than the caller would wait. */
export class ModelBusyError extends Error {
  /** Milliseconds until it may be asked again. */
  readonly waitMs: number

  constructor(waitMs: number) {
    super(`The model's provider is busy for ${Math.ceil(waitMs)} ms more`)
    this.waitMs = waitMs
  }
}

/** Until when the providers of models want to be left alone, by `performance.now()`, which nobody sets. */
const busyUntil = new WeakMap<LanguageModel, number>()

/** Notes that a provider wants to be left alone for a time: by everybody in this process who asks that model. */
export function noteBusy(model: LanguageModel, ms: number): void {
  busyUntil.set(model, Math.max(busyUntil.get(model) ?? 0, performance.now() + ms))
}

/** Milliseconds for which a model's provider still wants to be left alone; 0 for none. */
export function busyMs(model: LanguageModel): number {
  return Math.max(0, (busyUntil.get(model) ?? 0) - performance.now())
}
