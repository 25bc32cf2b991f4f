import type { LanguageModelV4FunctionTool, LanguageModelV4Prompt } from '@ai-sdk/provider'
import type { Assets } from '../../assets/assets-contract.ts'
import { inTime } from '../../assets/bodies/abortable.ts'
import { documentForm, isJsonType, readsAsText } from '../../assets/bodies/mime-type.ts'
import { describeTool } from '../../boundary/describe-tool.ts'
import { choosesMethod, mapsOver, type Tool, usesInstances } from '../../boundary/tool.ts'
import type { Board } from '../../core/board/board.ts'
import { ByrefError } from '../../core/errors.ts'
import { type ConversationState, openRun } from '../../core/events/conversation-state.ts'
import type { AssetCreated, Compaction, CompactionReason } from '../../core/events/events.ts'
import type { Labels } from '../../core/labels/labels.ts'
import { isOffloadedResult } from '../../core/messages/offloaded.ts'
import { type ReferenceGuideOptions, referenceGuide } from '../../core/messages/reference-guide.ts'
import type { ModelSettings } from '../../models/language-model.ts'
import type { ModelCapabilities } from '../../models/model-capabilities.ts'
import { acceptsFile } from '../../prompt/media/media-plan.ts'
import { MAX_TEXT_CHARS } from '../../prompt/media/media-source.ts'
import type { PlacedTopic } from '../../prompt/mentions.ts'
import { type PromptBudget, planCompaction } from '../../prompt/plan-compaction.ts'
import {
  compactionDue,
  lastStep,
  PromptBuilder,
  type PromptSource,
  promptTokens,
} from '../../prompt/prompt-builder.ts'
import { Redaction } from '../../prompt/redaction.ts'
import type { TranscriptOptions } from '../../prompt/transcript.ts'
import { mediaOfItem, type TranscriptItem } from '../../prompt/transcript-item.ts'
import type { AgentSettings } from '../run-settings.ts'

/** The parts of a session that prompts are made from. */
export interface PromptedConversation {
  state: ConversationState
  board: Board
  /** Null or absent if trust is off. */
  labels?: Labels | null
}

/** The prompt of the next step. */
export interface StepPrompt {
  prompt: LanguageModelV4Prompt
  /** Whether it must be compacted first, because files that it showed are gone. */
  stale: boolean
  /** The errors of files that could not be read since the last prompt, by reference. */
  unread: ReadonlyMap<string, unknown>
}

/** Maximum prompt length in tokens if the model's context window is unknown. */
const DEFAULT_TOKENS = 100_000

/** The share of the context window that a prompt may fill. */
const WINDOW_SHARE = 0.75

/** Number of a conversation's newest assets that are checked when a run starts. */
const MAX_CHECKED = 200

/** The settings of an agent that prompts are made with. */
type StepPromptSettings = Pick<
  AgentSettings,
  'instructions' | 'tools' | 'later' | 'assets' | 'prompt' | 'trust'
>

/** Makes the prompts of one conversation. They depend only on its log, and on assets, which never change. */
export class StepPrompts {
  readonly #settings: StepPromptSettings
  readonly #namespace: string | null
  readonly #guide: string
  readonly #transcript: TranscriptOptions
  readonly #builder: PromptBuilder
  readonly #missing = new Set<string>()
  /** Files that could not be read in the current run. They are not read again before the next run. */
  #unread = { runId: '', errors: new Map<string, unknown>(), reported: 0 }
  #redaction: Redaction<PromptedConversation> | null = null
  #capabilities: ModelCapabilities | null = null
  /** The maximum number of tokens, if the model has rejected a longer prompt. */
  #maxTokens = Infinity
  /** The last result of `compaction`, and the position that it is for. */
  #lastCheck: { at: string; reason: CompactionReason | null } = { at: '', reason: null }
  #checked: { runId: string; missing: readonly string[] } | null = null

  constructor(settings: StepPromptSettings, namespace: string | null) {
    const { tools, later, prompt, trust } = settings
    // Tools that the model sees only later need no guide at the start.
    const explained = [...tools.keys()].every((id) => later.has(id))
      ? new Map<string, Tool>()
      : tools
    const untrusted = trust?.mode === 'quarantine'
    this.#settings = settings
    this.#namespace = namespace
    this.#guide = referenceGuide({ ...specialParameters([...explained.values()]), untrusted }) ?? ''
    this.#transcript = {
      merge: prompt.merge,
      describeAssets: prompt.describeAssets,
      guide: guideFor(explained),
      accepts: (part) => this.#capabilities === null || acceptsFile(this.#capabilities, part),
      ...(untrusted ? { hides: (ref: string) => this.#redaction?.hides(ref) ?? true } : {}),
    }
    this.#builder = new PromptBuilder(this.#transcript)
  }

  /** Resolves to the model's capabilities and price. Await it before calling any other method. */
  async ready(): Promise<ModelCapabilities> {
    this.#capabilities ??= await this.#settings.prompt.capabilities()
    return this.#capabilities
  }

  /**
   * Returns why the prompt must be compacted before it is sent. Null if it does not have to be.
   *
   * @param after The state after events that are not appended yet, with only the messages of those events.
   * @param now The time by the log's clock, in milliseconds since 1970.
   */
  compaction(
    conversation: PromptedConversation,
    after: ConversationState,
    now: number,
  ): CompactionReason | null {
    if (!this.#capabilities) return null
    const { state } = conversation
    const { compaction, messages } = after
    const { transcript } = this.#builder
    const pending = after === state ? [] : messages
    // The runner asks more than once at the same position, so the result is cached.
    const at = pending.length === 0 ? `${state.position} ${compaction?.through}` : null
    if (at !== null && this.#lastCheck.at === at) return this.#lastCheck.reason
    if (mayAskModel(state)) transcript.update(this.#shownOf(conversation))
    const { runs, deletion } = state
    const current = { messages: state.messages, runs, deletion, compaction }
    const reason =
      this.#settings.later.size > 0 && hasNewTools(state, after)
        ? 'tools'
        : compactionDue(transcript, current, { budget: this.#budget(), now, pending })
    if (at !== null) this.#lastCheck = { at, reason }
    return reason
  }

  /** Notes that the model has rejected the prompt of this conversation because of its length. */
  noteTooLong({ state }: PromptedConversation): void {
    this.#maxTokens = promptTokens(this.#builder.transcript, state) * WINDOW_SHARE
  }

  /** Plans a compaction: how the conversation so far is shown from now on. Null if there is nothing to compact. */
  async plan(
    conversation: PromptedConversation,
    reason: CompactionReason,
  ): Promise<Compaction | null> {
    const { state } = conversation
    const { transcript } = this.#builder
    const { tokens } = transcript.shown
    const density = Math.max(1, promptTokens(transcript, state) / Math.max(tokens, 1))
    const shown = { transcript: this.#transcript, tokens, density, gone: this.#missing }
    const { summarize } = this.#settings.prompt.history
    const options = { reason, budget: this.#budget(), ...shown, summarize }
    const plan = await planCompaction(this.#shownOf(conversation), options)
    // There is nothing to compact, so no compaction is due.
    if (!plan) {
      this.#lastCheck = { at: `${state.position} ${state.compaction?.through}`, reason: null }
    }
    return plan
  }

  /**
   * Makes the next prompt.
   *
   * @param modelCapabilities The capabilities of the step's model, if it is not the agent's own.
   */
  async next(
    conversation: PromptedConversation,
    modelCapabilities?: ModelCapabilities,
  ): Promise<StepPrompt> {
    const { state } = conversation
    const capabilities = modelCapabilities ?? (await this.ready())
    const runId = openRun(state)?.runId ?? ''
    if (this.#unread.runId !== runId) this.#unread = { runId, errors: new Map(), reported: 0 }
    const missing = state.assets.length > 0 ? await this.#missingIn(state) : []
    for (const ref of missing) this.#missing.add(ref)
    const shown = this.#shownOf(conversation)
    const named = missing.filter((ref) => this.#redaction?.names(ref) ?? true)
    const tail = named.length > 0 ? [`[No longer available: ${named.join(', ')}]`] : []
    const prompt = await this.#builder.build(shown, this.#source(capabilities, tail))
    const stale = this.#missing.size > 0 && this.#showsGoneFiles(state)
    const { errors, reported } = this.#unread
    this.#unread.reported = errors.size
    return { prompt, stale, unread: new Map([...errors].slice(reported)) }
  }

  #budget(): PromptBudget {
    const { history, media } = this.#settings.prompt
    const { contextWindow: window = null, perCall, takes = {} } = this.#capabilities ?? {}
    const takesMedia = Object.keys(takes).length > 0
    const windowTokens = window === null ? DEFAULT_TOKENS : Math.floor(window * WINDOW_SHARE)
    return {
      tokens: Math.min(history.maxTokens ?? windowTokens, this.#maxTokens),
      // Without a limit if the model accepts no files, because prompts then contain none.
      mediaParts: takesMedia ? Math.min(media.maxParts, perCall?.images ?? Infinity) : Infinity,
      mediaBytes: takesMedia ? Math.min(media.maxBytes, perCall?.bytes ?? Infinity) : Infinity,
    }
  }

  #source(capabilities: ModelCapabilities, tail: readonly string[]): PromptSource {
    const { instructions, tools, assets, prompt } = this.#settings
    return {
      system: [instructions, this.#guide],
      tail,
      media: mediaModeOf(assets),
      reading: tools.has('fetch_asset') && tools.has('search_asset'),
      capabilities,
      assets,
      namespace: this.#namespace,
      cache: prompt.cache,
      options: { imageMaxSide: prompt.media.imageMaxSide, timeoutMs: prompt.media.timeoutMs },
      gone: { has: (ref) => this.#missing.has(ref) || this.#unread.errors.has(ref) },
      onMissing: (ref, error) => {
        if (error !== undefined) this.#unread.errors.set(ref, error)
        else if (!this.#unread.errors.has(ref)) this.#missing.add(ref)
      },
    }
  }

  /** The assets that no longer existed when the run started. */
  async #missingIn(state: ConversationState): Promise<readonly string[]> {
    const runId = openRun(state)?.runId ?? ''
    if (this.#checked?.runId !== runId) {
      const { assets, prompt } = this.#settings
      this.#checked = { runId, missing: await missingOf(state, assets, prompt.media.timeoutMs) }
    }
    return this.#checked.missing
  }

  /** Returns the conversation as the model may see it: in `quarantine`, with redacted values. */
  #shownOf(conversation: PromptedConversation): PromptedConversation {
    const { labels } = conversation
    const { tools, trust } = this.#settings
    if (trust?.mode !== 'quarantine' || !labels) return conversation
    this.#redaction ??= new Redaction(labels, {
      hasTool: (name) => tools.has(name),
      takesUrls: trust.attachments === 'trusted',
    })
    return this.#redaction.of(conversation)
  }

  /** Whether the prompt shows files that are gone now, but existed when the model was last asked. */
  #showsGoneFiles(state: ConversationState): boolean {
    const gone = new Set([...this.#missing].filter((ref) => wasShown(state, ref)))
    const names = (item: TranscriptItem): boolean =>
      mediaOfItem(item).some(({ ref }) => gone.has(ref))
    return gone.size > 0 && this.#builder.transcript.shown.items.some(names)
  }
}

/** Whether the model may be asked now: no call of the last answer still waits for its result. */
function mayAskModel(state: ConversationState): boolean {
  const step = openRun(state)?.steps.at(-1)
  if (!step) return true
  if (step.finishedAt === undefined) return step.callIds.length === 0
  return step.callIds.every((id) => state.calls[id]?.resultMessageId !== undefined)
}

/** Returns which special parameters, such as `_outputPath`, any of the tools take. The prompt's start explains them. */
function specialParameters(tools: readonly Tool[]): ReferenceGuideOptions {
  return {
    outputs: tools.some(({ outputPath }) => (outputPath ?? true) === true),
    methods: tools.some(choosesMethod),
    instances: tools.some(usesInstances),
    each: tools.some(mapsOver),
  }
}

/** Returns the ids of the tools that are not in the prompt: those that the model finds by search, and later ones. */
export function hiddenTools(
  settings: Pick<AgentSettings, 'later' | 'deferred'>,
  state: Pick<ConversationState, 'assets' | 'compaction'>,
): ReadonlySet<string> | undefined {
  const { deferred } = settings
  const later = laterTools(settings, state)
  if (deferred.size === 0) return later
  return later === undefined ? deferred : new Set([...deferred, ...later])
}

/** Adds the tool that `toolChoice` names to the tools for the model, if the model would only find it by search. */
export function withChosenTool<Shown extends { name: string }>(
  shown: readonly Shown[],
  { toolChoice }: ModelSettings,
  { tools, deferred }: Pick<AgentSettings, 'tools' | 'deferred'>,
): readonly (Shown | LanguageModelV4FunctionTool)[] {
  const { toolName = '' } = toolChoice?.type === 'tool' ? toolChoice : {}
  const chosen = deferred.has(toolName) ? tools.get(toolName) : undefined
  const isAdded = chosen && !shown.some(({ name }) => name === toolName)
  return isAdded ? [...shown, describeTool(chosen)] : shown
}

/** Returns the ids of the tools that the model does not see yet. */
export function laterTools(
  { later }: Pick<AgentSettings, 'later'>,
  { assets, compaction }: Pick<ConversationState, 'assets' | 'compaction'>,
): ReadonlySet<string> | undefined {
  const leavesFilesOut = Array.isArray(compaction?.media)
  return later.size === 0 || leavesFilesOut || assets.some(isReadByTools) ? undefined : later
}

/** Whether an asset may have more text than a prompt shows, so that the model needs tools to read the rest. */
function isReadByTools(asset: AssetCreated): boolean {
  const { mime, size = 0, structured } = asset
  if (isOffloadedResult(asset) || documentForm(mime)) return true
  return !structured && size > MAX_TEXT_CHARS && (readsAsText(mime) || isJsonType(mime))
}

/** Whether the conversation's first asset that needs reading tools was created since the last compaction. */
function hasNewTools(
  { messages, assets, assetsAfter }: ConversationState,
  { compaction, assets: fresh }: ConversationState,
): boolean {
  const first = assets.findIndex(isReadByTools)
  if (first === -1) return fresh !== assets && fresh.some(isReadByTools)
  const through = messages.findLastIndex(({ id }) => id === compaction?.through)
  return (assetsAfter[first] ?? 0) > through
}

/** Returns the text that explains a topic to an agent with these tools. */
function guideFor(tools: ReadonlyMap<string, unknown>): (topic: PlacedTopic) => string | null {
  return (topic) => {
    if (topic !== 'assets' && tools.size === 0) return null
    if (topic === 'reading' && !tools.has('fetch_asset')) return null
    const tables = topic === 'reading' && tools.has('query_tables')
    const text = referenceGuide({ [topic]: true, tables })
    return text === null ? null : `## References\n${text}`
  }
}

/**
 * Returns which bodies prompts may contain. A store that gives each body only once cannot serve them, because every
 * step makes a new prompt.
 */
function mediaModeOf({ config }: Assets): PromptSource['media'] {
  if (config.readsOnce) return 'none'
  return config.resolveInLLM ? 'all' : 'fetched'
}

/** Whether a file that is gone now existed when the model was last asked, and is not compacted away. */
function wasShown(
  { messages, assets, assetsAfter, runs, compaction }: ConversationState,
  ref: string,
): boolean {
  const step = lastStep(runs)
  const index = assets.findIndex((asset) => ref === asset.ref || ref.startsWith(`${asset.ref}/`))
  if (!step || index === -1 || (compaction?.media && !compaction.media.includes(ref))) return false
  const answer = messages.findLastIndex(({ id }) => id === step.messageId)
  return (assetsAfter[index] ?? 0) < answer
}

async function missingOf(
  { assets: created }: ConversationState,
  assets: Assets,
  timeoutMs: number,
): Promise<string[]> {
  const refs = new Set(created.slice(-MAX_CHECKED).map(({ ref }) => ref))
  const found = await Promise.all([...refs].map((ref) => exists(assets, ref, timeoutMs)))
  return [...refs].filter((_, i) => !found[i])
}

async function exists(assets: Assets, ref: string, timeoutMs: number): Promise<boolean> {
  try {
    await inTime(`Looking for ${ref}`, timeoutMs, () => assets.info(ref))
    return true
  } catch (error) {
    // If the store fails, assume that the asset exists. Reading its body reports the failure.
    return !(error instanceof ByrefError && error.code === 'asset_not_found')
  }
}
