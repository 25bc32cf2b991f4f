import { once } from 'node:events'
import { createInterface } from 'node:readline/promises'
import type { Agent } from '../agent/agent-contract.ts'
import type { ApprovalAnswer } from '../agent/approve.ts'
import { ByrefError, errorMessage } from '../core/errors.ts'
import type { ConversationEvent } from '../core/events/events.ts'
import type { Run } from '../engine/follow-run.ts'
import { approvalReasons } from '../policies/trust/check-flow.ts'
import { shown } from './terminal.ts'

/** Asks the person at the terminal for a line. Rejects when the signal is aborted. */
export type Ask = (question: string, signal: AbortSignal) => Promise<string>

/** Options of {@link Approvals}. */
export interface ApprovalsOptions {
  agent: Pick<Agent, 'approve'>
  run: Pick<Run, 'conversation' | 'cancel'>
  /** Approves every call. */
  yes: boolean
  /** Null if nobody can be asked. Then calls are denied. */
  ask: Ask | null
  /** Writes a line for the person. */
  note(line: string): void
}

type Requested = Extract<ConversationEvent, { type: 'APPROVAL_REQUESTED' }>

/** For the model, which cannot use an option of the command line. */
const NOBODY = 'nobody can be asked here'

/**
 * Answers the approvals of a run, one after the other. A question that is answered elsewhere in the meantime is
 * dropped.
 */
export class Approvals {
  readonly #options: ApprovalsOptions
  readonly #open = new Map<string, AbortController>()
  #asking: Promise<void> = Promise.resolve()

  constructor(options: ApprovalsOptions) {
    this.#options = options
  }

  /** Handles an event of the run. */
  onEvent(event: ConversationEvent): void {
    if (event.type === 'APPROVAL_ANSWERED') this.#open.get(event.toolCallId)?.abort()
    if (event.type !== 'APPROVAL_REQUESTED') return
    const controller = new AbortController()
    this.#open.set(event.toolCallId, controller)
    this.#asking = this.#asking.then(() => this.#answer(event, controller.signal))
  }

  /** Drops open questions. */
  close(): void {
    for (const controller of this.#open.values()) controller.abort()
  }

  async #answer(event: Requested, signal: AbortSignal): Promise<void> {
    const { agent, run, note } = this.#options
    try {
      if (signal.aborted) return
      const answer = await this.#decide(event, signal)
      await agent.approve(run.conversation, event.toolCallId, answer)
    } catch (error) {
      if (signal.aborted) return
      note(`  ${errorMessage(error)}`)
      const isLate = error instanceof ByrefError && error.code === 'approval_answered'
      // Otherwise, nobody would answer.
      if (!isLate) run.cancel()
    }
  }

  async #decide(event: Requested, signal: AbortSignal): Promise<ApprovalAnswer> {
    const { yes, ask, note } = this.#options
    const what = shown(describe(event))
    if (yes && !event.needsResult) {
      note(`  approved: ${what}`)
      return { approved: true }
    }
    if (!ask) {
      const hint = event.needsResult ? '' : '; use --yes to approve'
      note(`  denied: ${what}: ${NOBODY}${hint}`)
      return { approved: false, reason: NOBODY }
    }
    if (event.needsResult) {
      const line = await ask(`${shown(changes(event))}  ${what}: your answer? `, signal)
      return line.trim() === '' ? { approved: false } : { approved: true, result: line.trim() }
    }
    const question = `${shown(changes(event))}  run ${what}? [y/N] `
    return { approved: /^\s*y(es)?\s*$/i.test(await ask(question, signal)) }
  }
}

/** Exactly the arguments that will run. */
function describe(request: Requested): string {
  const { toolName, arguments: args, items } = request
  const reasons = approvalReasons(request)
  const why = reasons.length === 0 ? '' : ` (${reasons.join('; ')})`
  if (!items) return `${toolName} ${JSON.stringify(args)}${why}`
  const lines = items.map((item) => `\n    ${JSON.stringify(item)}`)
  return `${toolName}, ${items.length} times${why}:${lines.join('')}`
}

/** The tool's preview, such as a diff. */
function changes({ previews = [] }: Requested): string {
  const lines = previews.flatMap((one) => one?.split('\n') ?? [])
  return lines.map((line) => `    ${line}\n`).join('')
}

/** Asks on stderr and reads from stdin. Returns an empty line where stdin ends. */
export const askAtTerminal: Ask = async (question, signal) => {
  // The stream ends only once, maybe during an earlier question.
  if (process.stdin.readableEnded) return ''
  // Not in terminal mode, so that Ctrl-C stays a signal.
  const lines = createInterface({ input: process.stdin, output: process.stderr, terminal: false })
  try {
    const ended = once(lines, 'close').then(() => '')
    return await Promise.race([lines.question(question, { signal }), ended])
  } finally {
    lines.close()
  }
}
