import type { CallPlan } from '../../boundary/call-plan.ts'
import type { Tool } from '../../boundary/tool.ts'
import { withInput } from '../../boundary/with-input.ts'
import type { JsonValue } from '../../core/json/json.ts'
import { callLabels } from '../../policies/trust/call-labels.ts'
import { decideFlow, flowRefused, shownVerdict } from '../../policies/trust/decide-flow.ts'
import type { RunScope } from '../run-scope.ts'
import { type MappedArguments, mappedArguments } from './map-call.ts'
import { openContext } from './tool-context.ts'

/** Asks people about calls, and hears their answers. */
export interface CallApprovals {
  /**
   * Asks about a call where its tool wants that, or does not take what it is given. Null where a person was asked; else
   * what it runs with, of a mapped call for each item: exactly what was looked at.
   *
   * @throws ByrefError `flow_refused` where the agent's policy says no
   */
  ask(plan: CallPlan): Promise<readonly MappedArguments[] | null>
  /** Hears no more. */
  close(): void
}

/** Options of {@link createCallApprovals}. */
export interface CallApprovalsOptions {
  /** The call is not ready for anything else. */
  held(plan: CallPlan): void
  /** A person has answered about a call that was asked about here. */
  answered(plan: CallPlan): void
  /** The call's arguments with the values of their variables. */
  argumentsOf(plan: CallPlan): Promise<Record<string, unknown>>
}

/** The approvals of the calls of one answer (spec T7): what is shown is resolved and checked, and exactly that runs. */
export function createCallApprovals(
  scope: RunScope,
  { held, answered, argumentsOf }: CallApprovalsOptions,
): CallApprovals {
  const { session, runId, assets } = scope
  const { labels } = session
  const asked = new Map<string, CallPlan>()
  const close = session.watch(({ event }) => {
    if (event.type !== 'APPROVAL_ANSWERED') return
    const plan = asked.get(event.toolCallId)
    if (!plan || session.state.calls[plan.id]?.status === 'waiting') return
    asked.delete(plan.id)
    answered(plan)
  })

  async function isWanted(plan: CallPlan, item: MappedArguments): Promise<boolean> {
    const tool = plan.tool as Tool
    const { needsApproval } = tool
    // An item that cannot run has nothing to ask about.
    if (item.error || !needsApproval) return false
    const given = item.arguments
    return withInput(tool, { args: given, assets: () => assets }, async (input) => {
      if (typeof needsApproval !== 'function') return needsApproval === true
      const execution = { plan, toolCallId: plan.id, arguments: given, attempt: 1 }
      const { context, end } = openContext(scope, execution, {
        assets: () => assets,
        events: [],
        reads: null,
      })
      try {
        return await needsApproval(input, context)
      } finally {
        end()
      }
    })
  }

  return {
    async ask(plan) {
      held(plan)
      const before = labels && callLabels(labels, plan)
      const items = plan.each === undefined ? null : await mappedArguments(scope, plan)
      const all = items ?? [{ arguments: await argumentsOf(plan) }]
      const verdict = before && (await scope.during(() => decideFlow(scope, plan, { before, all })))
      if (verdict?.decision === 'refuse') throw flowRefused(plan, verdict.violations)
      const wanted = await scope.during(() => Promise.all(all.map((item) => isWanted(plan, item))))
      if (!wanted.includes(true) && verdict?.decision !== 'ask') return all
      asked.set(plan.id, plan)
      const shown = (items ? plan.arguments : all[0]?.arguments) as JsonValue
      const each = items?.map((item) => (item.arguments ?? null) as JsonValue)
      const mapped = each ? { items: each } : {}
      const why = verdict ? shownVerdict(verdict) : {}
      const call = { toolCallId: plan.id, runId, arguments: shown, ...mapped, ...why }
      await scope.append({ events: [{ type: 'APPROVAL_REQUESTED', ...call }] })
      return null
    },
    close,
  }
}
