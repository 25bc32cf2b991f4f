import { is, type OptionTable } from '../core/check-options.ts'

/** What ends or bounds a run. A number, or Infinity for no limit. */
export interface Limits {
  /** Answers of the model in one run; then it ends with `step_limit`. Default 25. */
  steps?: number
  /** Tokens of one run, in and out, those of its sub-agents and of `ask_about` among them; looked at before each step (`token_limit`). Default: none. */
  tokens?: number
  /** US dollars of one run, where the model's price is known (`cost_limit`). Default: none. */
  cost?: number
  /** Milliseconds of one run, waiting for people not counted (`time_limit`). Default: none. */
  runTimeoutMs?: number
  /** Calls of one answer, and items of a mapped call, that run at once. Default 16. */
  parallelCalls?: number
  /** Milliseconds of one execution of a tool that has no `timeoutMs` of its own; the call fails. Default: none. */
  callTimeoutMs?: number
  /** Milliseconds without a part of the model's answer; then it counts as broken. Default 600,000. */
  modelTimeoutMs?: number
}

/** Limits with their defaults. */
export type ResolvedLimits = Required<Limits>

const DEFAULTS: ResolvedLimits = {
  steps: 25,
  tokens: Infinity,
  cost: Infinity,
  runTimeoutMs: Infinity,
  parallelCalls: 16,
  callTimeoutMs: Infinity,
  modelTimeoutMs: 600_000,
}

export const LIMITS: OptionTable<Limits> = {
  ...is.all(is.positive, 'steps', 'tokens', 'cost', 'runTimeoutMs', 'parallelCalls'),
  ...is.all(is.positive, 'callTimeoutMs', 'modelTimeoutMs'),
}

/** Limits with their defaults. */
export function resolveLimits(limits: Limits = {}): ResolvedLimits {
  const given = Object.fromEntries(
    Object.entries(limits).filter(([, value]) => value !== undefined),
  )
  return { ...DEFAULTS, ...given }
}
