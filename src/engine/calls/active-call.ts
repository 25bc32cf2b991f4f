import { boundaryOf } from '../../boundary/boundary.ts'
import type { CallPlan } from '../../boundary/call-plan.ts'
import type { Tool, ToolContext } from '../../boundary/tool.ts'
import type { CallState } from '../../core/events/conversation-state.ts'
import type { LabelTree } from '../../core/labels/label-tree.ts'
import type { Labels } from '../../core/labels/labels.ts'
import type { CallItem, CallOutcome, ComposedPolicy, PolicyCall } from '../../policies/policy.ts'
import type { RunScope } from '../run-scope.ts'
import type { ResolvedItems } from './resolve-items.ts'
import { openContext } from './tool-context.ts'

/** A call of the answer that is under way, as policies see it. */
export class ActiveCall implements PolicyCall {
  items: readonly CallItem[] = []
  each?: LabelTree
  isResumed = false
  readonly #scope: RunScope
  readonly #plan: CallPlan

  constructor(scope: RunScope, plan: CallPlan) {
    this.#scope = scope
    this.#plan = plan
  }

  get toolCallId(): string {
    return this.#plan.id
  }

  get tool(): Tool {
    return this.#plan.tool ?? unknownTool(this.#plan.name)
  }

  get conversation(): string {
    return this.#scope.session.id
  }

  get runId(): string {
    return this.#scope.runId
  }

  get namespace(): string | null {
    return this.#scope.namespace
  }

  get context(): unknown {
    return this.#scope.context
  }

  get isMapped(): boolean {
    return this.#plan.each !== undefined
  }

  get written(): PolicyCall['written'] {
    const { arguments: args, each } = this.#plan
    return each === undefined ? args : { ...args, _each: each }
  }

  get labels(): Labels | null {
    return this.#scope.session.labels
  }

  get state(): CallState {
    return this.#scope.session.state.calls[this.#plan.id] as CallState
  }

  /** Takes what the call would run with. */
  take({ items, each }: ResolvedItems): void {
    this.items = items.filter((item) => item.arguments !== undefined)
    this.each = each
  }

  readonly withInput: PolicyCall['withInput'] = (item, use) => {
    const { assets } = this.#scope
    return boundaryOf(() => assets).withInput(
      { tool: this.tool, arguments: item.arguments },
      (input) => this.#withContext((context) => use(input, context)),
    )
  }

  async #withContext<T>(use: (context: ToolContext) => T): Promise<Awaited<T>> {
    const { signal, assets } = this.#scope
    const { context, end } = openContext(this.#scope, {
      plan: this.#plan,
      toolCallId: this.#plan.id,
      attempt: 1,
      signal,
      assets: () => assets,
      events: [],
    })
    try {
      return await use(context)
    } finally {
      end()
    }
  }
}

/** What stands for a tool that does not exist. */
function unknownTool(id: string): Tool {
  return { id, description: '', inputSchema: { type: 'object' }, execute: () => null }
}

/** The outcome as the policies have it logged. */
export async function adjusted(
  { after }: ComposedPolicy,
  call: PolicyCall,
  outcome: CallOutcome,
  item?: number,
): Promise<CallOutcome> {
  return (await after?.(call, outcome, item)) ?? outcome
}
