import { createdPayload } from '../../assets/asset-events.ts'
import { toAssetStore } from '../../assets/asset-facade.ts'
import type { Assets } from '../../assets/assets-contract.ts'
import type { CallPlan } from '../../boundary/call-plan.ts'
import type { Tool, ToolContext } from '../../boundary/tool.ts'
import {
  ConversationSource,
  labelsOfError,
  type ReadingCall,
  sourceLabels,
} from '../../boundary/value-source.ts'
import type { BoardEntry } from '../../core/board/board.ts'
import { ByrefError } from '../../core/errors.ts'
import {
  addUsage,
  type CallState,
  type ConversationState,
  runOf,
} from '../../core/events/conversation-state.ts'
import type { CallError, ConversationEvent } from '../../core/events/events.ts'
import { inBackground } from '../../core/in-background.ts'
import { type JsonValue, shownJson } from '../../core/json/json.ts'
import { joinAll, type Label } from '../../core/labels/label.ts'
import type { LabelTree } from '../../core/labels/label-tree.ts'
import type { Labels } from '../../core/labels/labels.ts'
import { formatVariable, parseVariableRef } from '../../core/refs/variable-ref.ts'
import type { CallItem, CallOutcome, ExecutionChanges, PolicyCall } from '../../policies/policy.ts'
import { type NotedReads, noteReads } from '../../policies/trust/note-reads.ts'
import { callError } from '../run-errors.ts'
import type { RunScope } from '../run-scope.ts'

/** A call in progress, as policies see it. */
export class ActiveCall implements PolicyCall {
  items: readonly CallItem[] = []
  each?: LabelTree
  isResumed = false
  readonly plan: CallPlan
  readonly #scope: RunScope
  readonly #events: ConversationEvent[] = []
  readonly #noted: NotedReads[] = []

  constructor(scope: RunScope, plan: CallPlan) {
    this.#scope = scope
    this.plan = plan
  }

  get toolCallId(): string {
    return this.plan.id
  }

  get tool(): Tool {
    return this.plan.tool ?? unknownTool(this.plan.name)
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
    return this.plan.each !== undefined
  }

  get written(): PolicyCall['written'] {
    const { arguments: args, each } = this.plan
    return each === undefined ? args : { ...args, _each: each }
  }

  get labels(): Labels | null {
    return this.#scope.session.labels
  }

  get state(): CallState {
    return this.#scope.session.state.calls[this.plan.id] as CallState
  }

  /** Sets the arguments that the call would run with. */
  setArguments({ items, each }: ResolvedItems): void {
    this.items = items.filter((item) => item.arguments !== undefined)
    this.each = each
  }

  /** Returns the events of `needsApproval` and `preview` that are not logged yet. The caller logs them. */
  takeEvents(): ConversationEvent[] {
    return this.#events.splice(0)
  }

  /** The label of everything that `needsApproval` and `preview` have read. Trusted and public if trust is off. */
  get read(): Label {
    return joinAll(this.#noted.map(({ trust }) => trust.read))
  }

  readonly withInput: PolicyCall['withInput'] = (item, use) => {
    const call = { tool: this.tool, arguments: item.arguments }
    return this.#scope.boundary.withInput(call, (input) =>
      this.#withContext(item, (context) => use(input, context)),
    )
  }

  async #withContext<T>(
    { reads }: CallItem,
    use: (context: ToolContext) => T,
  ): Promise<Awaited<T>> {
    const { labels } = this
    const { signal, assets } = this.#scope
    const noted = labels && noteReads(this, labels, reads)
    if (noted) this.#noted.push(noted)
    const usedAssets = noted?.assets(assets, []) ?? assets
    const { context, end } = openContext(this.#scope, {
      plan: this.plan,
      toolCallId: this.plan.id,
      attempt: 1,
      signal,
      assets: () => usedAssets,
      events: this.#events,
      onRead: noted?.read,
      trust: noted?.trust,
    })
    context.announce = () => Promise.reject(notStarted('announce', this.tool))
    context.output = {
      choose: () => {
        throw notStarted('output.choose', this.tool)
      },
    }
    try {
      return await use(context)
    } finally {
      end()
    }
  }
}

function notStarted(method: string, { id }: Tool): ByrefError {
  return new ByrefError(
    'tool_failed',
    `context.${method} is not available before the call to "${id}" has started. Use it in execute.`,
  )
}

/** Returns a placeholder for a tool that does not exist. */
function unknownTool(id: string): Tool {
  return { id, description: '', inputSchema: { type: 'object' }, execute: () => null }
}

/**
 * Calls the policies' `after`, and returns the outcome with their changes. If a policy throws, the call fails, but its
 * asset events are still logged.
 */
export async function applyAfter(
  { settings, during }: RunScope,
  call: PolicyCall,
  outcome: CallOutcome,
  item?: number,
): Promise<CallOutcome> {
  const { after } = settings.policy
  if (!after) return outcome
  try {
    return (await during(() => after(call, outcome, item))) ?? outcome
  } catch (error) {
    const { events, retained } = outcome
    return { events, retained, error: callError(error) }
  }
}

/** Options of {@link openContext}. */
export interface ContextParts extends Pick<ExecutionChanges, 'onRead' | 'onWaiting' | 'trust'> {
  plan: CallPlan
  toolCallId: string
  attempt: number
  signal: AbortSignal
  /** Called when the tool first uses its assets. */
  assets(): Assets
  /** Collects the events that are logged with the outcome. */
  events: ConversationEvent[]
}

/** The context of one execution, and functions to end it and to read what the tool chose. */
export interface OpenContext {
  context: ToolContext
  end(): void
  /** The index of the `_outputPath` alternative that the tool chose. */
  chosen(): number | undefined
}

/** What the tool of a sub-agent needs of the run that it works for. */
export interface CallingRun {
  /** The `context` of the run; undefined if it has none of its own. */
  context?: JsonValue
  /** Returns the data of the conversation, with descriptions and schemas. */
  entries(): readonly BoardEntry[]
  /** Returns the state of the call, or of the mapped call that it is an item of. */
  call(): CallState
  /** Logs the events that the call's state asks for, unless the call has ended. */
  append(decide: (call: CallState) => ConversationEvent[]): Promise<void>
  /** Says whether the sub-agent waits for a person. */
  waits(isWaiting: boolean): void
}

/** The property of a context with its run. A sub-agent may be of another copy of byref in the process. */
const CALLING_RUN = Symbol.for('byref.calling-run')

/** Returns the run that a tool works for. Undefined if the context is not one that byref made. */
export function callingRunOf(
  context: ToolContext & { [CALLING_RUN]?: CallingRun },
): CallingRun | undefined {
  return context[CALLING_RUN]
}

/** Creates the context that a tool gets with its input. */
export function openContext(scope: RunScope, parts: ContextParts): OpenContext {
  const { session, runId, namespace } = scope
  const { plan, toolCallId, attempt, signal, assets, events, onRead } = parts
  let chosen: number | undefined
  let hasEnded = false
  const context: ToolContext = {
    toolCallId,
    attempt,
    conversation: session.id,
    runId,
    namespace,
    context: scope.context,
    signal,
    progress(message, fraction) {
      if (hasEnded) return
      checkProgress(message, fraction)
      const payload = { toolCallId: plan.id, message }
      const notified = scope.stream({
        type: 'TOOL_PROGRESS',
        payload: fraction === undefined ? payload : { ...payload, fraction },
      })
      inBackground('Telling handlers of progress', notified)
    },
    addUsage(usage, usedBy) {
      if (hasEnded) return
      // A tool may pass anything: only valid counts are logged.
      const counted = addUsage({ inputTokens: null, outputTokens: null }, usage)
      const event = { type: 'TOOL_USAGE', toolCallId: plan.id, runId, usage: counted } as const
      events.push(typeof usedBy === 'string' ? { ...event, usedBy } : event)
    },
    get assets() {
      return assets()
    },
    async announce(ref) {
      const info = await assets().info(ref)
      if (hasEnded || session.state.assets.some((asset) => asset.ref === info.ref)) return info
      const meta = info.structured ? await assets().meta(info.ref) : undefined
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
      try {
        const found = await sourceOf(scope, plan).read(variable)
        onRead?.(found)
        return found.value
      } catch (error) {
        const labels = labelsOfError(error)
        if (labels) onRead?.({ value: undefined, labels })
        throw error
      }
    },
    trust: parts.trust ?? null,
    output: {
      choose(path) {
        chosen = alternativeOf(plan, path)
      },
    },
  }
  const callingRun: CallingRun = {
    context: runOf(session.state, runId)?.context,
    entries: () => session.board.entries(),
    call: () => session.state.calls[plan.id] as CallState,
    append: async (decide) => {
      const call = ({ calls }: Pick<ConversationState, 'calls'>) => calls[plan.id] as CallState
      if (hasEnded || decide(call(session.state)).length === 0) return
      await scope.append((state) => ({ events: decide(call(state)) }))
    },
    waits(isWaiting) {
      if (!hasEnded) parts.onWaiting?.(isWaiting)
    },
  }
  Object.defineProperty(context, CALLING_RUN, { value: callingRun })
  return {
    context,
    end() {
      hasEnded = true
    },
    chosen: () => chosen,
  }
}

/** A tool in plain JavaScript may pass anything. @throws ByrefError `invalid_data` */
function checkProgress(message: unknown, fraction: unknown): void {
  if (typeof message === 'string' && ['number', 'undefined'].includes(typeof fraction)) return
  throw new ByrefError(
    'invalid_data',
    `context.progress takes a text, and optionally a fraction from 0 to 1, such as progress("Reading", 0.5). It got: ${shownJson(message)}, ${shownJson(fraction)}`,
  )
}

function alternativeOf({ name, outputs, instance }: CallPlan, path: string): number {
  const ref = parseVariableRef(path)
  const alternatives = outputs.map((targets) =>
    targets.map((target) => formatVariable(target, target.path)),
  )
  const asked = ref?.type === 'variable' ? formatVariable({ instance, ...ref }, ref.path) : path
  const index = alternatives.findIndex((names) => names.includes(asked))
  if (index !== -1) return index
  const known = alternatives.map((names) => names.join(' && ')).join(' or ') || 'nothing'
  throw new ByrefError(
    'invalid_reference',
    `The call to "${name}" writes to ${known}, not to ${path}`,
  )
}

/** The arguments of one execution, or the error that keeps it from running. */
export type Item =
  | (CallItem & { error?: undefined })
  | { error: CallError; source?: LabelTree; arguments?: undefined }

/** A call with the values of its variables: one item, or one for each entry of a mapped call's list. */
export interface ResolvedItems {
  items: readonly Item[]
  /** The labels of the list that the call is mapped over. */
  each?: LabelTree
}

/** Returns the value source for the variables of a call. */
export function sourceOf(
  { session, assets }: Pick<RunScope, 'session' | 'assets'>,
  { id, instance }: Pick<CallPlan, 'id' | 'instance'>,
  local?: ReadingCall['local'],
): ConversationSource {
  const { board, results, labels, state } = session
  const from = { board, results, calls: state.calls, assets }
  return new ConversationSource(labels ? { ...from, labels: sourceLabels(labels, assets) } : from, {
    id,
    instance,
    local,
  })
}
