import { createdPayload } from '../../assets/asset-events.ts'
import { toAssetStore } from '../../assets/asset-facade.ts'
import type { Assets } from '../../assets/assets-contract.ts'
import type { CallPlan } from '../../boundary/call-plan.ts'
import { createDataReader } from '../../boundary/data-reader.ts'
import type { Tool, ToolContext } from '../../boundary/tool.ts'
import { ByrefError } from '../../core/errors.ts'
import { addUsage } from '../../core/events/add-usage.ts'
import type { ConversationEvent } from '../../core/events/events.ts'
import { inBackground } from '../../core/in-background.ts'
import { parseVariableRef } from '../../core/refs/variable-ref.ts'
import { onAbort } from '../../models/on-abort.ts'
import type { NotedReads } from '../../policies/trust/note-reads.ts'
import type { RunScope } from '../run-scope.ts'
import type { Execution } from './execution.ts'

/** What an execution's context is made with. */
export interface ContextParts {
  assets(): Assets
  /** Where what is to be logged with its outcome goes. */
  events: ConversationEvent[]
  /** Notes what it reads; null where trust is off. */
  reads: NotedReads | null
}

/** What a tool is given beside its input, and how to end it. */
export function openContext(
  scope: RunScope,
  { plan, toolCallId, attempt }: Omit<Execution, 'labels'>,
  { assets, events, reads }: ContextParts,
): { context: ToolContext; signal: AbortSignal; end(): void; chosen(): number | undefined } {
  const { session, runId, namespace, settings } = scope
  const { signal, stop } = withTimeout(
    scope.signal,
    plan.tool as Tool,
    settings.limits.callTimeoutMs,
  )
  let chosen: number | undefined
  let over = false
  const read: ToolContext['read'] = async (variable) => createDataReader(scope, plan).read(variable)
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
    read: reads ? reads.read(read) : read,
    trust: reads && { given: reads.given, mark: (label) => reads.mark(label) },
    output: {
      choose(path) {
        chosen = alternativeOf(plan, path)
      },
    },
  }
  const end = (): void => {
    over = true
    stop()
  }
  return { context, signal, end, chosen: () => chosen }
}

/** The run's signal, or one that also ends when the execution has taken too long. */
function withTimeout(
  run: AbortSignal,
  { id, timeoutMs }: Tool,
  callTimeoutMs: number,
): { signal: AbortSignal; stop(): void } {
  const ms = timeoutMs ?? callTimeoutMs
  if (ms === Infinity) return { signal: run, stop() {} }
  const controller = new AbortController()
  const message = `The tool "${id}" took longer than ${ms} ms and was given up`
  const timer = setTimeout(() => controller.abort(new ByrefError('tool_timeout', message)), ms)
  const forget = onAbort(run, (reason) => controller.abort(reason))
  return {
    signal: controller.signal,
    stop() {
      clearTimeout(timer)
      forget()
    },
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
