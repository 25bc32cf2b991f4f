import type { LanguageModelV4Prompt } from '@ai-sdk/provider'
import type { Assets } from '../../assets/assets-contract.ts'
import { mayHoldAssets } from '../../assets/extract/may-hold-assets.ts'
import { checkDepth } from '../../boundary/argument-places.ts'
import { isSaveTool } from '../../boundary/call-plan.ts'
import { describeTools } from '../../boundary/describe-tool.ts'
import { storeArguments } from '../../boundary/store.ts'
import type { Tool } from '../../boundary/tool.ts'
import { CALL_TOOL, unwrapCallTool } from '../../boundary/tool-search.ts'
import { ByrefError, errorMessage } from '../../core/errors.ts'
import { openRun } from '../../core/events/conversation-state.ts'
import type { CompactionReason, ConversationEvent } from '../../core/events/events.ts'
import { inBackground } from '../../core/in-background.ts'
import type { KeptReasoning } from '../../core/messages/message.ts'
import { newId } from '../../core/new-id.ts'
import { callModel, isPromptTooLong, nameOf, warnOnce } from '../../models/call-model.ts'
import { jsonAnswer, rejectsToolsWithSchema } from '../../models/json-answer.ts'
import type {
  LanguageModel,
  ModelCallOptions,
  ModelSettings,
  ModelStreamPart,
} from '../../models/language-model.ts'
import { type ModelCapabilities, withCost } from '../../models/model-capabilities.ts'
import { type RenamedTools, renameParameters } from '../../models/parameter-names.ts'
import { type AcceptedCall, CallRunner } from '../calls/call-runner.ts'
import { askedSchema } from '../output/output-schema.ts'
import { callError, type FailedStep, FailedStepError } from '../run-errors.ts'
import { type RunScope, workOf } from '../run-scope.ts'
import { logAnswer, logBrokenAnswer, modelAssets, modelOf, requestsOf } from './log-answer.ts'
import { type PreparedStep, prepareStep } from './prepare-step.ts'
import {
  type ModelCall,
  type ModelResponse,
  type ResponseListener,
  ResponseReader,
} from './read-response.ts'
import { hiddenTools, type StepPrompts, withChosenTool } from './step-prompts.ts'

/**
 * Runs one step: makes the prompt, asks the model, logs its answer, and runs its calls. Calls start while the answer
 * still streams. If the answer is interrupted after one of its calls was logged, the part that was received is kept.
 *
 * @param messageId The id of the step, whose start is in the log.
 */
export async function askModel(
  run: RunScope,
  messageId: string,
  prompts: StepPrompts,
): Promise<void> {
  const prepared = run.settings.prepareStep ? await prepareStep(run, messageId) : defaultStep(run)
  const { scope, capabilities } = prepared
  const { settings, signal } = scope
  const options = optionsOf(prepared)
  const chosen = withChosenTool(prepared.tools, options, settings)
  const shown = capabilities ?? (await prompts.ready())
  const { parameterNames, price } = shown
  const renamed = parameterNames && renameParameters(chosen, parameterNames)
  const named = renamed?.tools ?? chosen
  const tools = shown.looseTools ? named.map((tool) => ({ ...tool, strict: false })) : named
  const { model, retry, limits } = settings
  const prompt = await promptOf(scope, prompts, capabilities)
  const answer = new Answer(scope, messageId, { renamed, ...shown })
  const call = (prompt: LanguageModelV4Prompt) =>
    scope.during(() =>
      callModel({
        model,
        options: { prompt, tools: tools.length > 0 ? [...tools] : undefined, ...options },
        signal,
        retry,
        silenceMs: limits.modelTimeoutMs,
        maxWaitMs: settings.maxWaitMs,
        onRetry: (retry) => scope.stream({ type: 'MODEL_RETRY', messageId, ...retry }),
        onPart: (part) => answer.take(part),
      }),
    )
  try {
    const response = await withPolicies(scope, messageId, async () => {
      // The context window may be unknown, and the token count too low. Each compaction makes the prompt shorter.
      for (let current = prompt; ; current = await promptOf(scope, prompts, capabilities)) {
        try {
          await call(current)
          break
        } catch (error) {
          if (!isPromptTooLong(error) || answer.reader.response.parts.length > 0) throw error
          prompts.noteTooLong(scope.session)
          if (!(await compactPrompt(scope, prompts, 'size'))) throw tooLong(error)
        }
      }
      await answer.accepted()
      const { response } = answer.reader
      if (limits.tokens !== Infinity) warnWithoutUsage(response, model)
      return { ...response, usage: withCost(response.usage, price) }
    })
    await logAnswer(prepared, messageId, response)
  } catch (error) {
    await answer.reader.flush()
    signal.throwIfAborted()
    const calls = await answer.accepted()
    const usage = withCost(answer.reader.response.usage, price)
    const about = { ...modelOf(prepared), ...requestsOf(answer.reader.response) }
    const failed: FailedStep = { messageId, usage, ...about }
    if (!calls) throw answer.reader.isCounted ? new FailedStepError(error, failed) : error
    await logBrokenAnswer(scope, messageId, failed)
  }
  answer.calls?.close()
  await answer.calls?.settled()
}

/** Warns once if the provider reports no usage, because a token limit then has no effect. */
function warnWithoutUsage({ usage }: ModelResponse, model: LanguageModel): void {
  if (usage.inputTokens !== null || usage.outputTokens !== null) return
  warnOnce(`${nameOf(model)} reports no usage, so limits.tokens has no effect`)
}

/** Returns the error for a prompt that is too long although nothing in it can be left out. */
function tooLong({ code, message, cause }: ByrefError): ByrefError {
  const sentence = message.replace(/\.?$/, '.')
  return new ByrefError(code, `${sentence} The prompt cannot be made shorter. ${ADVICE}`, { cause })
}

const ADVICE =
  'Send a shorter message, send the text as a file, or use a model with a larger context window.'

/** Returns a step with the agent's own settings. */
function defaultStep(scope: RunScope): PreparedStep {
  const { settings, session } = scope
  const tools = describeTools(settings.tools, hiddenTools(settings, session.state))
  return { scope, settings: {}, tools }
}

/** Asks the model, inside the `aroundStep` of the agent's policies. */
function withPolicies(
  scope: RunScope,
  messageId: string,
  perform: () => Promise<ModelResponse>,
): Promise<ModelResponse> {
  const { model, policy } = scope.settings
  const { aroundStep } = policy
  if (!aroundStep) return perform()
  return scope.during(() => aroundStep({ ...workOf(scope), messageId, model }, perform))
}

/**
 * Makes the prompt of the step. If files that earlier prompts showed are gone, compacts it first. Logs an error for
 * each file that cannot be read.
 */
async function promptOf(
  scope: RunScope,
  prompts: StepPrompts,
  capabilities?: ModelCapabilities,
): Promise<LanguageModelV4Prompt> {
  const derive = async () => {
    const derived = await scope.during(() => prompts.next(scope.session, capabilities))
    if (derived.unread.size > 0) await scope.append({ events: unreadEvents(derived.unread) })
    return derived
  }
  const { prompt, stale } = await derive()
  if (!stale) return prompt
  await compactPrompt(scope, prompts, 'gone')
  return (await derive()).prompt
}

/** Returns events that report files which could not be read. */
function unreadEvents(unread: ReadonlyMap<string, unknown>): ConversationEvent[] {
  return [...unread].map(([ref, error]) => {
    const { code, message } = callError(error)
    return { type: 'ASSET_ERROR', payload: { code, message, by: 'system', ref } }
  })
}

/**
 * Compacts the prompt: logs how prompts show the conversation so far from now on. False if there was nothing to
 * compact.
 */
export async function compactPrompt(
  scope: RunScope,
  prompts: StepPrompts,
  reason: CompactionReason,
): Promise<boolean> {
  const { session, runId } = scope
  const compaction = await scope.during(() => prompts.plan(session, reason))
  if (!compaction) return false
  const events = [{ type: 'PROMPT_COMPACTED', runId, ...compaction } as const]
  await scope.append({ events })
  return true
}

/** Returns the options of the model call, without prompt and tools. */
function optionsOf({
  scope,
  settings: stepSettings,
  tools,
}: PreparedStep): Omit<ModelCallOptions, 'prompt'> {
  const { session, settings } = scope
  const { settings: runSettings, output } = openRun(session.state)?.overrides ?? {}
  const merged = { ...settings.modelSettings, ...(runSettings as ModelSettings), ...stepSettings }
  const { toolChoice, ...others } = merged
  const hasTools = tools.length > 0
  const options = hasTools && toolChoice ? merged : others
  // The conversation has a notice with the schema, and the answer is checked in any case.
  const isEnforced = !hasTools || !rejectsToolsWithSchema(settings.model)
  return output && isEnforced
    ? { ...options, ...jsonAnswer(askedSchema(output), options) }
    : options
}

/** Streams the events of one answer as its parts arrive, and runs its calls. */
class Answer implements ResponseListener {
  readonly reader: ResponseReader
  /** Runs the calls. Null before the first one. */
  calls: CallRunner | null = null
  readonly #scope: RunScope
  readonly #messageId: string
  readonly #renamed: RenamedTools | null
  #accepting: Promise<void> | null = null
  #hasText = false
  #isReasoning = false
  /** The ids of `call_tool` calls. The tool that they call is unknown until their arguments are complete. */
  readonly #unnamed = new Set<string>()

  constructor(
    scope: RunScope,
    messageId: string,
    {
      renamed,
      providerCallIds,
    }: { renamed: RenamedTools | null } & Pick<ModelCapabilities, 'providerCallIds'>,
  ) {
    this.#scope = scope
    this.#messageId = messageId
    this.#renamed = renamed
    const callId = (id: string) => uniqueCallId(scope.session.callIds, id)
    this.reader = new ResponseReader(callId, this, providerCallIds)
  }

  /** @throws ByrefError `config_invalid` if trust is on, and the provider ran a tool of its own */
  take(part: ModelStreamPart): void | Promise<void> {
    if (this.#scope.settings.trust) rejectProviderTool(part)
    return this.reader.take(part)
  }

  /** Resolves to the runner of the calls, when all calls so far are logged; null if there are none. */
  async accepted(): Promise<CallRunner | null> {
    if (this.#accepting) await this.#accepting
    return this.calls
  }

  text(delta: string): void | Promise<void> {
    const messageId = this.#messageId
    if (!this.#hasText)
      this.#streamSoon({ type: 'TEXT_MESSAGE_START', messageId, role: 'assistant' })
    this.#hasText = true
    return this.#scope.stream({ type: 'TEXT_MESSAGE_CONTENT', messageId, delta })
  }

  textEnd(): void | Promise<void> {
    if (!this.#hasText) return
    return this.#scope.stream({ type: 'TEXT_MESSAGE_END', messageId: this.#messageId })
  }

  reasoning(delta: string): void | Promise<void> {
    const messageId = this.#messageId
    if (!this.#isReasoning)
      this.#streamSoon({ type: 'REASONING_MESSAGE_START', messageId, role: 'reasoning' })
    this.#isReasoning = true
    return this.#scope.stream({ type: 'REASONING_MESSAGE_CONTENT', messageId, delta })
  }

  reasoningEnd(): void | Promise<void> {
    if (!this.#isReasoning) return
    this.#isReasoning = false
    return this.#scope.stream({ type: 'REASONING_MESSAGE_END', messageId: this.#messageId })
  }

  callStart(id: string, name: string): void | Promise<void> {
    if (!this.#isCallTool(name)) return this.#announce(id, name)
    this.#unnamed.add(id)
  }

  callDelta(toolCallId: string, delta: string): void | Promise<void> {
    if (this.#unnamed.has(toolCallId)) return
    return this.#scope.stream({ type: 'TOOL_CALL_ARGS', toolCallId, delta })
  }

  /** Accepts calls in the order of the answer, without blocking the stream. */
  call(given: ModelCall): void {
    const { name, arguments: args } = given
    const call = { ...given, arguments: this.#renamed?.ownArguments(name, args) ?? args }
    const before = this.#accepting
    const reasoning = this.reader.takeSigned()
    const accept = () => this.#accept(call, reasoning)
    this.#accepting = before ? before.then(accept) : accept()
    this.#accepting.catch(() => {})
  }

  async #accept(modelCall: ModelCall, reasoning: readonly KeptReasoning[]): Promise<void> {
    const scope = this.#scope
    const messageId = this.#messageId
    const call = this.#isCallTool(modelCall.name) ? unwrapCallTool(modelCall) : modelCall
    if (this.#unnamed.delete(call.id)) {
      await this.#announce(call.id, call.name)
      const delta = JSON.stringify(call.arguments)
      await scope.stream({ type: 'TOOL_CALL_ARGS', toolCallId: call.id, delta })
    }
    const tool = scope.settings.tools.get(call.name)
    const extracted = await scope.during(() =>
      extractArguments(call, tool, () => modelAssets(scope, messageId)),
    )
    this.calls ??= new CallRunner(scope)
    await this.calls.accept({ ...extracted, messageId, reasoning })
  }

  /**
   * Whether this is `call_tool`. A model may still use it after the agent's tools have become too few for a search.
   */
  #isCallTool(name: string): boolean {
    const { tools, deferred } = this.#scope.settings
    return name === CALL_TOOL && (deferred.size > 0 || !tools.has(CALL_TOOL))
  }

  #announce(toolCallId: string, toolCallName: string): void | Promise<void> {
    const parentMessageId = this.#messageId
    return this.#scope.stream({
      type: 'TOOL_CALL_START',
      toolCallId,
      toolCallName,
      parentMessageId,
    })
  }

  /** Streams an event, without waiting for its handlers. */
  #streamSoon(event: ConversationEvent): void {
    inBackground('Telling handlers of an answer', this.#scope.stream(event))
  }
}

/** Throws if the provider ran a tool, because the model reads the tool's result and nothing labels it. */
function rejectProviderTool(part: ModelStreamPart): void {
  let found = ''
  if (part?.type === 'source' && part.sourceType === 'url') found = 'read a web page'
  else if (part?.type === 'tool-result' || (part?.type === 'tool-call' && part.providerExecuted))
    found = `ran its tool "${part.toolName}"`
  if (found === '') return
  throw new ByrefError(
    'config_invalid',
    `The model's provider ${found}. With trust on, nothing may reach the model without a label. Turn off the provider's tools, or turn off trust.`,
  )
}

/** Returns the provider's call id, or a new one if the conversation already has a call with that id. */
function uniqueCallId(used: ReadonlySet<string>, id: string): string {
  return id === '' || used.has(id) ? `call_${newId()}` : id
}

/**
 * Replaces base64 and data URLs in a call's arguments with references, so that neither the log nor later prompts
 * contain them. The tool still gets the original arguments. Only `save_asset` gets the reference, if its whole data
 * became an asset.
 */
async function extractArguments(
  { problem, ...call }: ModelCall,
  tool: Tool | undefined,
  assets: () => Assets,
): Promise<Pick<AcceptedCall, 'call' | 'originalArguments' | 'problem' | 'events'>> {
  const events: ConversationEvent[] = []
  try {
    // The log would reject values that are nested very deeply, and the run would fail.
    checkDepth(call.arguments)
    if (!mayHoldAssets(call.arguments)) return { call, problem, events }
    const onEvent = (event: ConversationEvent) => events.push(event)
    const storing = { tool: call.name, toolCallId: call.id, onEvent }
    const { logged, extracted } = await storeArguments(storing, call.arguments, assets())
    if (logged === call.arguments) return { call, problem, events }
    if (tool && isSaveTool(tool) && typeof extracted.assetRef === 'string') {
      return { call: { ...call, arguments: { ref: extracted.assetRef } }, problem, events }
    }
    const originalArguments = call.arguments
    return { call: { ...call, arguments: logged }, originalArguments, problem, events }
  } catch (error) {
    return { call: { ...call, arguments: {} }, problem: errorMessage(error), events }
  }
}
