import { defined } from '../assets/defined.ts'
import { called } from '../core/called.ts'
import { is, type OptionTable } from '../core/check-options.ts'
import { ByrefError } from '../core/errors.ts'
import type { ModelCapabilities } from '../models/model-capabilities.ts'

/** Limits of a run. Each is a number, or Infinity for no limit. */
export interface Limits {
  /** Maximum number of steps. Then the run ends with `step_limit`. Default: 25. */
  steps?: number
  /**
   * Maximum number of input and output tokens, including sub-agents and `ask_about`. It is checked before each
   * step, and the run ends with `token_limit`. Default: no limit.
   */
  tokens?: number
  /** Maximum cost in US dollars (`cost_limit`). The model's price must be known. Default: no limit. */
  cost?: number
  /** Maximum duration in milliseconds (`time_limit`). Waiting for people does not count. Default: no limit. */
  runTimeoutMs?: number
  /** Maximum number of calls, and of items of a mapped call, that run in parallel. Default: 16. */
  parallelCalls?: number
  /**
   * Time limit in milliseconds for one execution of a tool without its own `timeoutMs`. Then the call fails.
   * Default: none.
   */
  callTimeoutMs?: number
  /**
   * Maximum time in milliseconds between two parts of the model's answer. Then the model call fails. Default: 600,000.
   */
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
  steps: called(is.positive, 'maxSteps', 'maxTurns'),
  ...is.all(is.positive, 'tokens', 'cost', 'runTimeoutMs', 'parallelCalls'),
  ...is.all(is.positive, 'callTimeoutMs', 'modelTimeoutMs'),
}

/** Limits with their defaults. */
export function resolveLimits(limits: Limits = {}): ResolvedLimits {
  return { ...DEFAULTS, ...defined(limits) }
}

/**
 * Rejects a cost limit if the model's price is unknown, because the limit would have no effect.
 *
 * @throws ByrefError `config_invalid`
 */
export function checkPrice({ price }: ModelCapabilities, { cost }: ResolvedLimits): void {
  if (price || cost === Infinity) return
  throw new ByrefError(
    'config_invalid',
    "limits.cost is set, but the model's price is unknown. Set it with capabilities: { price: { input, output } }, in US dollars per million tokens.",
  )
}
