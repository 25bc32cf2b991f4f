import { once } from 'node:events'
import { createInterface } from 'node:readline/promises'
import type { Agent } from '../agent/agent-contract.ts'
import type { ApprovalAnswer } from '../agent/approve.ts'
import { ByrefError, errorMessage } from '../core/errors.ts'
import type { ConversationEvent } from '../core/events/events.ts'
import type { Run } from '../engine/follow-run.ts'
import { shown } from './shown.ts'

/** Asks the person at the terminal for a line; rejects when the signal is aborted. */
export type Ask = (question: string, signal: AbortSignal) => Promise<string>

/** Answers calls that wait for a person, as the run's events tell of them. */
export interface Approvals {
  hear(event: ConversationEvent): void
  /** Asks no more. */
  close(): void
}

/** Who answers. */
export interface ApprovalsOptions {
  agent: Pick<Agent, 'approve'>
  run: Pick<Run, 'conversation' | 'cancel'>
  /** Approves every call. */
  yes: boolean
  /** Null where nobody can be asked: then calls are denied. */
  ask: Ask | null
  /** Tells the person something. */
  note(line: string): void
}

type Requested = Extract<ConversationEvent, { type: 'APPROVAL_REQUESTED' }>

const NOBODY = 'nobody can be asked here; use --yes to approve'

/** Answers one call after the other. A question that was answered elsewhere meanwhile is dropped. */
export function createApprovals({ agent, run, yes, ask, note }: ApprovalsOptions): Approvals {
  const names = new Map<string, string>()
  const open = new Map<string, AbortController>()
  let asking: Promise<void> = Promise.resolve()

  async function decide(event: Requested, signal: AbortSignal): Promise<ApprovalAnswer> {
    const what = shown(describe(names.get(event.toolCallId) ?? 'the call', event))
    if (yes) {
      note(`  approved: ${what}`)
      return { approved: true }
    }
    if (!ask) {
      note(`  denied: ${what}: ${NOBODY}`)
      return { approved: false, reason: NOBODY }
    }
    return { approved: /^\s*y(es)?\s*$/i.test(await ask(`  run ${what}? [y/N] `, signal)) }
  }

  async function answer(event: Requested, { signal }: AbortController): Promise<void> {
    try {
      if (signal.aborted) return
      const said = await decide(event, signal)
      await agent.approve(run.conversation, event.toolCallId, said)
    } catch (error) {
      if (signal.aborted) return
      note(`  ${errorMessage(error)}`)
      const isLate = error instanceof ByrefError && error.code === 'approval_answered'
      // Nobody will ever answer.
      if (!isLate) run.cancel()
    }
  }

  return {
    hear(event) {
      if (event.type === 'TOOL_CALL_END') names.set(event.toolCallId, event.call.name)
      if (event.type === 'APPROVAL_ANSWERED') open.get(event.toolCallId)?.abort()
      if (event.type !== 'APPROVAL_REQUESTED') return
      const controller = new AbortController()
      open.set(event.toolCallId, controller)
      asking = asking.then(() => answer(event, controller))
    },
    close() {
      for (const controller of open.values()) controller.abort()
    },
  }
}

/** Exactly what will run. */
function describe(name: string, { arguments: args, items }: Requested): string {
  if (!items) return `${name} ${JSON.stringify(args)}`
  return [`${name}, ${items.length} times:`, ...items.map((item) => JSON.stringify(item))].join(
    '\n    ',
  )
}

/** Asks on stderr and reads from stdin; empty where stdin ends. */
export const askAtTerminal: Ask = async (question, signal) => {
  // It says so once, and maybe to an earlier question.
  if (process.stdin.readableEnded) return ''
  // Not as a terminal, so that Ctrl-C stays a signal.
  const lines = createInterface({ input: process.stdin, output: process.stderr, terminal: false })
  try {
    const ended = once(lines, 'close').then(() => '')
    return await Promise.race([lines.question(question, { signal }), ended])
  } finally {
    lines.close()
  }
}
