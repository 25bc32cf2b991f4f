import { ByrefError } from '../core/errors.ts'
import { openRun } from '../core/events/conversation-state.ts'
import { DamagedError } from '../core/events/damaged-error.ts'
import type { ConversationEvent } from '../core/events/events.ts'
import type { Foldable } from '../core/events/fold.ts'
import { inBackground } from '../core/in-background.ts'
import type { ConversationLog, LogChange } from '../log/conversation-log.ts'
import type { Performer, perform, Release } from './conversation-runner.ts'
import type { RunFollower } from './follow-run.ts'
import { runFailure } from './run-failure.ts'
import type { AgentSettings } from './run-settings.ts'
import type { BegunStep } from './run-writer.ts'
import type { Session } from './session.ts'

/** A conversation that is open in this process. */
export interface OpenConversation {
  readonly session: Session
  /** Adds somebody who waits for the end of a run; fails it at once where the conversation is closed or deleted. */
  follow(follower: RunFollower): void
  unfollow(follower: RunFollower): void
  readonly begun: BegunStep
  /**
   * Does what is due, here, unless another process runs it: then as soon as its lease has run out. Where the log has
   * workers it is theirs, but for what is done here already. A sub-agent's run is left to the call that began it, which
   * has the right agent: that call continues the run when its own run continues.
   */
  wake(): void
  /** The same, here also where the log has workers, and for a sub-agent's run. */
  wakeHere(): void
  /** Has somebody do what is due: this process, or a worker, where the log has them. */
  resume(): Promise<void>
  /** Does what is due, here, until nothing is or it has to let go; resolves to why it did. */
  advance(options: AdvanceOptions): Promise<Release>
}

/** How a conversation is advanced. */
export interface AdvanceOptions {
  /** Hears once that this process has the conversation. */
  onTaken?(): void
  /** Its abort leaves it to others when the step that goes on has ended. */
  leave?: AbortSignal
  /** Its abort leaves it to others at once. */
  signal?: AbortSignal
}

/** The conversations that are open in this process: each folded once, however many runs it has. */
export interface OpenConversations {
  get(conversation: string): Promise<OpenConversation>
  /** Takes an error that ended a run here, with its cause. */
  takeFailure(runId: string): ByrefError | null
  /** Stops all work and leaves it to others; resolves when it has stopped. */
  close(): Promise<void>
}

/** What open conversations work with. */
export interface OpenConversationsOptions {
  /** That of the namespace. */
  log: ConversationLog
  settings: AgentSettings
  owner: string
  leaseMs: number
  /** Handlers of what happens here; absent where there are none. */
  tell?(session: Session, event: Foldable): Promise<void>
  /** Hears of what only streams and comes from here. */
  onStream(conversation: string, event: ConversationEvent): void
}

interface Slot {
  opening: Promise<OpenConversation>
  open: OpenConversation | null
  /** Those who wait for the end of a run here. */
  followers: Set<RunFollower>
  /** Why nothing happens here any more; null while it may. */
  ended: ByrefError | null
  /** Loaded with the first conversation. */
  perform: typeof perform | null
  performer: Performer | null
  /** Changed while it was being read. */
  missed: boolean
  /** A handler failed while nothing was performed. */
  handlerError: { error: unknown } | null
  retry: ReturnType<typeof setTimeout> | null
}

/** Conversations that nobody works on or waits for stay open while they are no more than this, records in all. */
const MAX_OPEN = { conversations: 256, records: 500_000 }

/** Errors that are kept for who may still ask. */
const MAX_FAILURES = 1000

/** Time between the end of another's lease and the attempt to take over, in milliseconds; with a random part. */
const TAKE_OVER_DELAY = 50

/** Keeps conversations open. */
export function openConversations(options: OpenConversationsOptions): OpenConversations {
  const { log, settings, owner, leaseMs, tell, onStream } = options
  const slots = new Map<string, Slot>()
  const failures = new Map<string, ByrefError>()
  let unsubscribe: (() => void) | null = null
  let closed = false
  /** Runs since it was last looked whether too much is open. */
  let untidy = 0

  function changed({ conversation, records, deleted, streamed }: LogChange): void {
    const slot = slots.get(conversation)
    if (!slot) return
    for (const event of streamed ?? []) slot.open?.session.hear(event)
    if (streamed) return
    if (deleted) drop(conversation, slot)
    else if (slot.open) slot.open.session.receive(records)
    else slot.missed = true
  }

  function drop(conversation: string, slot: Slot): void {
    slots.delete(conversation)
    slot.performer?.stop()
    end(
      slot,
      new ByrefError('conversation_not_found', `The conversation "${conversation}" was deleted`),
    )
  }

  function end(slot: Slot, error: ByrefError): void {
    slot.ended = error
    slot.open?.session.close()
    for (const follower of slot.followers) follower.fail(error)
  }

  async function open(conversation: string, slot: Slot): Promise<OpenConversation> {
    unsubscribe ??= log.subscribe(changed, { wants: (id) => slots.has(id) })
    const [{ openSession }, performer] = await Promise.all([
      import('./session.ts'),
      import('./conversation-runner.ts'),
    ])
    slot.perform = performer.perform
    const session: Session = await openSession({
      log,
      id: conversation,
      labelled: settings.trust !== null,
      tell: tell && ((event) => tell(session, event)),
      onStream: (event) => onStream(conversation, event),
      onHandlerError(error) {
        const runId = session.state.runs.at(-1)?.runId
        if (runId !== undefined) keepFailure(runId, runFailure(error))
        if (slot.performer) slot.performer.fail(error)
        else slot.handlerError = { error }
      },
    })
    if (slot.missed) await session.refresh()
    for (const created of session.state.assets) settings.assets.remember(created)
    slot.open = {
      session,
      begun: { messageId: null },
      follow(follower) {
        if (slot.ended) follower.fail(slot.ended)
        else slot.followers.add(follower)
      },
      unfollow(follower) {
        slot.followers.delete(follower)
      },
      wake() {
        if (log.queue || isSubRun(session)) slot.performer?.wake()
        else wakeHere(slot, session)
      },
      wakeHere: () => wakeHere(slot, session),
      async resume() {
        if (isSubRun(session)) slot.performer?.wake()
        else if (log.queue) await log.enqueue?.(conversation)
        else wakeHere(slot, session)
      },
      advance: (how) => advance(slot, session, how),
    }
    return slot.open
  }

  /** For who follows the run here, if anybody does. */
  function keepFailure(runId: string, error: ByrefError): void {
    failures.set(runId, error)
    const [oldest] = failures.keys()
    if (failures.size > MAX_FAILURES && oldest !== undefined) failures.delete(oldest)
  }

  function wakeHere(slot: Slot, session: Session): void {
    if (closed || !slot.open) return
    // It was closed for want of room since it was asked for: only who is open now may work on it.
    if (slots.get(session.id) !== slot) {
      inBackground(`Opening ${session.id} again`, wakeOpen(session.id))
      return
    }
    if (slot.performer?.wake()) return
    const { released } = begin(slot, session, slot.open)
    const retried = released.then((release) => {
      if (release.type === 'held') retryLater(slot, session, release.expiresIn)
      if (release.type === 'later') retryLater(slot, session, release.ms)
      if (release.type === 'failed' && !log.queue) retryLater(slot, session, leaseMs)
    })
    inBackground(`Running ${session.id}`, retried)
  }

  async function wakeOpen(conversation: string): Promise<void> {
    const open = await get(conversation)
    open.wakeHere()
  }

  async function advance(
    slot: Slot,
    session: Session,
    { leave, signal, onTaken }: AdvanceOptions,
  ): Promise<Release> {
    // What made it due may not have been heard of yet.
    await session.refresh()
    if (closed || !slot.open || slots.get(session.id) !== slot) return { type: 'stopped' }
    const known = slot.performer?.wake() ? slot.performer : null
    if (!known && isSubRun(session)) return { type: 'idle' }
    if (known) onTaken?.()
    const performer = known ?? begin(slot, session, slot.open, onTaken)
    leave?.addEventListener('abort', performer.leave, { once: true })
    signal?.addEventListener('abort', performer.stop, { once: true })
    if (leave?.aborted) performer.leave()
    if (signal?.aborted) performer.stop()
    try {
      return await performer.released
    } finally {
      leave?.removeEventListener('abort', performer.leave)
      signal?.removeEventListener('abort', performer.stop)
    }
  }

  function begin(
    slot: Slot,
    session: Session,
    { begun }: OpenConversation,
    onTaken?: () => void,
  ): Performer {
    if (slot.retry) clearTimeout(slot.retry)
    slot.retry = null
    const performer = (slot.perform as typeof perform)({
      ...{ session, log, settings, owner, leaseMs, namespace: log.namespace },
      ...{ begun, onTaken },
      hasHandlers: tell !== undefined,
      onFailure: keepFailure,
    })
    slot.performer = performer
    if (slot.handlerError) performer.fail(slot.handlerError.error)
    slot.handlerError = null
    const ended = performer.released.then((release) => {
      if (slot.performer === performer) slot.performer = null
      if (release.type === 'failed') {
        for (const follower of slot.followers) follower.fail(release.error)
      }
      if (release.type === 'idle') tidy()
    })
    inBackground(`Running ${session.id}`, ended)
    return performer
  }

  function retryLater(slot: Slot, session: Session, expiresIn: number): void {
    if (closed) return
    const delay = Math.max(0, expiresIn) + TAKE_OVER_DELAY * (1 + Math.random())
    slot.retry = setTimeout(() => wakeHere(slot, session), delay)
  }

  /** Closes what nobody needs, the longest unused first. */
  function tidy(): void {
    if (slots.size <= MAX_OPEN.conversations && ++untidy < 100) return
    untidy = 0
    let records = 0
    for (const { open } of slots.values()) records += open?.session.state.position ?? 0
    for (const [id, { open, performer, retry, followers }] of slots) {
      if (slots.size <= MAX_OPEN.conversations && records <= MAX_OPEN.records) return
      if (!open || performer || retry || followers.size > 0) continue
      records -= open.session.state.position
      open.session.close()
      slots.delete(id)
    }
  }

  async function get(conversation: string): Promise<OpenConversation> {
    if (closed) throw new ByrefError('interrupted', 'The agent is closed')
    const known = slots.get(conversation)
    if (known) {
      // To the end of the order of use.
      slots.delete(conversation)
      slots.set(conversation, known)
      return known.opening
    }
    const { promise, resolve, reject } = Promise.withResolvers<OpenConversation>()
    const slot: Slot = {
      opening: promise,
      open: null,
      followers: new Set(),
      ended: null,
      perform: null,
      performer: null,
      missed: false,
      handlerError: null,
      retry: null,
    }
    slots.set(conversation, slot)
    promise.catch(() => slots.delete(conversation))
    open(conversation, slot)
      .catch(async (error) => {
        // Nobody is to meet it again before it was mended.
        if (error instanceof DamagedError) await log.upkeep?.setAside(conversation, error.damage)
        throw error
      })
      .then(resolve, reject)
    return promise
  }

  return {
    get,
    takeFailure(runId) {
      const failure = failures.get(runId) ?? null
      failures.delete(runId)
      return failure
    },
    async close() {
      closed = true
      unsubscribe?.()
      const working: Promise<unknown>[] = []
      for (const slot of slots.values()) {
        if (slot.retry) clearTimeout(slot.retry)
        slot.performer?.stop()
        if (slot.performer) working.push(slot.performer.released)
        end(
          slot,
          new ByrefError('interrupted', 'The agent was closed. Call resume to continue the run.'),
        )
      }
      await Promise.all(working)
    },
  }
}

function isSubRun({ state }: Session): boolean {
  return openRun(state)?.toolCallId !== undefined
}
