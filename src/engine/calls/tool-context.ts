import { createdPayload } from '../../assets/asset-events.ts'
import { toAssetStore } from '../../assets/asset-facade.ts'
import type { Assets } from '../../assets/assets-contract.ts'
import type { CallPlan } from '../../boundary/call-plan.ts'
import type { ToolContext } from '../../boundary/tool.ts'
import { ByrefError } from '../../core/errors.ts'
import { addUsage } from '../../core/events/add-usage.ts'
import type { ConversationEvent } from '../../core/events/events.ts'
import { inBackground } from '../../core/in-background.ts'
import { parseVariableRef } from '../../core/refs/variable-ref.ts'
import type { ExecutionChanges } from '../../policies/policy.ts'
import type { RunScope } from '../run-scope.ts'
import { sourceOf } from './resolve-items.ts'

/** What a context is made with. */
export interface ContextParts extends Pick<ExecutionChanges, 'onRead' | 'trust'> {
  plan: CallPlan
  toolCallId: string
  attempt: number
  signal: AbortSignal
  /** Opened when the tool first asks for them. */
  assets(): Assets
  /** Where what is to be logged with the outcome goes. */
  events: ConversationEvent[]
}

/** What a tool gets beside its input, and how to end it. */
export interface OpenContext {
  context: ToolContext
  end(): void
  /** The alternative of its outputs that the tool chose. */
  chosen(): number | undefined
}

/** Opens the context of one execution. */
export function openContext(scope: RunScope, parts: ContextParts): OpenContext {
  const { session, runId, namespace } = scope
  const { plan, toolCallId, attempt, signal, assets, events, onRead, trust = null } = parts
  let chosen: number | undefined
  let over = false
  const context: ToolContext = {
    toolCallId,
    attempt,
    conversation: session.id,
    runId,
    namespace,
    context: scope.context,
    signal,
    progress(message, fraction) {
      if (over) return
      const payload = { toolCallId: plan.id, message: String(message) }
      const told = scope.stream({
        type: 'TOOL_PROGRESS',
        payload: fraction === undefined ? payload : { ...payload, fraction },
      })
      inBackground('Telling handlers of progress', told)
    },
    addUsage(usage) {
      // A tool may say anything: only what can be counted is logged.
      const counted = addUsage({ inputTokens: null, outputTokens: null }, usage)
      if (!over) events.push({ type: 'TOOL_USAGE', toolCallId: plan.id, runId, usage: counted })
    },
    get assets() {
      return assets()
    },
    async announce(ref) {
      const info = await assets().info(ref)
      if (over || session.state.assets.some((known) => known.ref === info.ref)) return info
      const meta = info.structured ? await assets().meta(info.ref) : null
      const payload = createdPayload(info, { by: 'tool', tool: plan.name, toolCallId }, meta)
      const label = info.label ? { label: info.label } : {}
      events.push({ type: 'ASSET_CREATED', payload: { ...payload, ...label } })
      return info
    },
    get assetStore() {
      return toAssetStore(assets())
    },
    resolveAsset: (ref) => assets().get(ref),
    assetConfig: scope.assets.config,
    async read(variable) {
      const found = await sourceOf(scope, plan).read(variable)
      onRead?.(found)
      return found.value
    },
    trust,
    output: {
      choose(path) {
        chosen = alternativeOf(plan, path)
      },
    },
  }
  return {
    context,
    end() {
      over = true
    },
    chosen: () => chosen,
  }
}

function alternativeOf({ name, outputs }: CallPlan, path: string): number {
  const asked = parseVariableRef(path)
  const found = outputs.findIndex((targets) =>
    targets.some(({ kind, path: to }) => {
      return (
        asked?.type === 'variable' && asked.kind === kind && asked.path.join('.') === to.join('.')
      )
    }),
  )
  if (found !== -1) return found
  const there = outputs.map((targets) =>
    targets.map(({ kind, path: to }) => ['†', kind, ...to.map((key) => `.${key}`)].join('')),
  )
  throw new ByrefError(
    'invalid_reference',
    `The call of "${name}" does not write to ${path}; it writes to ${there.join(' or ') || 'nothing'}`,
  )
}
