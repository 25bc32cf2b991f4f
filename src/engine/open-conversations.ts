import { ByrefError } from '../core/errors.ts'
import { openRun } from '../core/events/conversation-state.ts'
import type { LogRecord } from '../core/events/events.ts'
import { setRecent } from '../core/recent.ts'
import { type ConversationLog, type LogChange, scopedKey } from '../log/conversation-log.ts'
import type { ConversationRunner, Release } from './conversation-runner.ts'
import { hasOwnerEnded } from './lease-owner.ts'
import type { Session } from './session.ts'

/** Idle conversations stay open up to these numbers of conversations and of records in all of them. */
const MAX_OPEN = { conversations: 256, records: 500_000 }

/** Maximum number of run errors that are kept for followers. */
const MAX_FAILURES = 1000

/** Time between two checks whether the process that holds a lease still runs, in milliseconds. */
const OWNER_CHECK_MS = 1000

/** Pause between the end of another process's lease and the attempt to take over, in milliseconds, before jitter. */
const TAKE_OVER_DELAY = 50

/**
 * The conversations of an agent that are open in this process, in all namespaces. An app may drop its agent without
 * closing it: the log does not keep the agent alive, only open runs and their followers do.
 */
export class OpenConversations {
  readonly #log: ConversationLog
  /** In the order of last use. */
  readonly #opened = new Map<string, OpenConversation>()
  readonly #openedOf = new WeakMap<Session, OpenConversation>()
  readonly #failures = new Map<string, ByrefError>()
  #unsubscribe: (() => void) | null = null
  #isClosed = false
  /** Number of runs since the last check for idle conversations. */
  #runsSinceCheck = 0

  constructor(log: ConversationLog) {
    this.#log = log
  }

  get isClosed(): boolean {
    return this.#isClosed
  }

  /** Whether nothing runs in this process, or is about to. */
  get isIdle(): boolean {
    return [...this.#opened.values()].every((opened) => opened.isIdle)
  }

  /** Returns an open conversation. */
  find(namespace: string | null, id: string): OpenConversation | null {
    const opened = this.#opened.get(scopedKey(namespace, id))
    if (!opened) return null
    // Move it to the end.
    this.#opened.delete(opened.key)
    this.#opened.set(opened.key, opened)
    return opened
  }

  /** Whether the conversation is open, or being opened. */
  isOpen(namespace: string | null, id: string): boolean {
    return this.#opened.has(scopedKey(namespace, id))
  }

  /** Takes a change from the log. */
  receive({ conversation, namespace, records, deleted, streamed }: LogChange): void {
    const opened = this.#opened.get(scopedKey(namespace, conversation))
    if (!opened) return
    if (streamed) {
      for (const event of streamed) opened.session?.receiveStreamed(event)
    } else if (deleted) {
      const message = `The conversation "${conversation}" was deleted`
      this.forget(opened, () => new ByrefError('conversation_not_found', message))
    } else {
      opened.receive(records)
    }
  }

  /** Adds a conversation, from the start of its opening. If that fails, removes it. */
  add(namespace: string | null, id: string, opening: Promise<Session>): OpenConversation {
    this.#unsubscribe ??= this.#subscribe()
    const opened = new OpenConversation(this, scopedKey(namespace, id), opening)
    this.#opened.set(opened.key, opened)
    opening.then(
      (session) => this.#openedOf.set(session, opened),
      () => this.#remove(opened),
    )
    return opened
  }

  /** Returns the conversation of a session, which may be closed. */
  of(session: Session): OpenConversation | undefined {
    return this.#openedOf.get(session)
  }

  /** Whether the conversation was not closed. */
  has(opened: OpenConversation): boolean {
    return this.#opened.get(opened.key) === opened
  }

  /** Closes a conversation. The next caller opens it anew. */
  forget(opened: OpenConversation, error: () => ByrefError): void {
    this.#remove(opened)
    opened.close(error)
  }

  /** Keeps the error that ended a run, for its followers in this process. Null forgets it. */
  keepFailure(runId: string, error: ByrefError | null): void {
    if (error) setRecent(this.#failures, runId, error, MAX_FAILURES)
    else this.#failures.delete(runId)
  }

  hasFailure(runId: string): boolean {
    return this.#failures.has(runId)
  }

  /** Returns the error that ended a run in this process, with its cause, and forgets it. */
  takeFailure(runId: string): ByrefError | null {
    const failure = this.#failures.get(runId) ?? null
    this.#failures.delete(runId)
    return failure
  }

  /** Closes idle conversations, the least recently used first. */
  closeIdle(): void {
    const opened = this.#opened
    if (opened.size <= MAX_OPEN.conversations && ++this.#runsSinceCheck < 100) return
    this.#runsSinceCheck = 0
    let records = 0
    for (const { session } of opened.values()) records += session?.state.position ?? 0
    for (const one of opened.values()) {
      if (opened.size <= MAX_OPEN.conversations && records <= MAX_OPEN.records) return
      if (!one.session || !one.isIdle || one.hasFollowers) continue
      records -= one.session.state.position
      one.session.close()
      this.#remove(one)
    }
  }

  /** Stops all runners. Resolves when they have stopped. Other processes can continue the runs. */
  async close(): Promise<void> {
    this.#isClosed = true
    this.#unsubscribe?.()
    const opened = [...this.#opened.values()]
    for (const one of opened) one.close(closedError)
    await Promise.all(opened.map(({ runner }) => runner?.released))
  }

  #subscribe(): () => void {
    const own = new WeakRef(this)
    const unsubscribe = this.#log.subscribe((change) => own.deref()?.receive(change), {
      allNamespaces: true,
      wants: (id, namespace) => own.deref()?.isOpen(namespace, id) ?? false,
    })
    dropped.register(this, unsubscribe)
    return unsubscribe
  }

  #remove(opened: OpenConversation): void {
    if (this.has(opened)) this.#opened.delete(opened.key)
    busy.delete(opened)
  }
}

/** Unsubscribes agents that were dropped from their log. */
const dropped = new FinalizationRegistry<() => void>((unsubscribe) => unsubscribe())

/** Follows the runs of a conversation, until it fails. */
export interface Follower {
  fail(error: ByrefError): void
}

/** Conversations that run, have an open run, or are followed. Each keeps its agent alive. */
const busy = new Set<OpenConversation>()

/** A conversation that is open in this process: its session, its runner, and the followers of its runs. */
export class OpenConversation {
  /** Keeps the other open conversations reachable while this one is in use. */
  readonly all: OpenConversations
  readonly key: string
  /** Resolves when the session is open. */
  readonly opening: Promise<Session>
  /** Whether the log announced records while the session was being opened. */
  hasMissed = false
  #session: Session | null = null
  #runner: ConversationRunner | null = null
  readonly #followers = new Set<Follower>()
  /** Creates the error for followers. Null until the conversation is closed. */
  #endError: (() => ByrefError) | null = null
  /** The error of an event handler that failed while no runner was active. */
  #handlerError: { error: unknown } | null = null
  #retry: ReturnType<typeof setTimeout> | null = null

  constructor(all: OpenConversations, key: string, opening: Promise<Session>) {
    this.all = all
    this.key = key
    this.opening = opening
    this.#noteUse()
  }

  /** Null while the session is being opened. */
  get session(): Session | null {
    return this.#session
  }

  /** Null while nothing runs here. */
  get runner(): ConversationRunner | null {
    return this.#runner
  }

  /** Whether nothing runs here, or is about to. */
  get isIdle(): boolean {
    return this.#session !== null && !this.#runner && !this.#retry
  }

  get hasFollowers(): boolean {
    return this.#followers.size > 0
  }

  /** Notes that the session is open. */
  ready(session: Session): void {
    this.#session = session
    this.#noteUse()
  }

  /** Takes records from the log. */
  receive(records: readonly LogRecord[]): void {
    if (!this.#session) this.hasMissed = true
    this.#session?.receive(records)
    this.#noteUse()
  }

  /** Adds a follower. It fails at once if the conversation is closed. */
  follow(follower: Follower): void {
    if (this.#endError) follower.fail(this.#endError())
    else this.#followers.add(follower)
    this.#noteUse()
  }

  unfollow(follower: Follower): void {
    this.#followers.delete(follower)
    this.#noteUse()
  }

  /** Notes that a runner has started. */
  started(runner: ConversationRunner): void {
    if (this.#retry) clearTimeout(this.#retry)
    this.#retry = null
    this.#runner = runner
    if (this.#handlerError) runner.fail(this.#handlerError.error)
    this.#handlerError = null
    this.#noteUse()
  }

  /** Notes that a runner has stopped. If it failed, the followers fail, too. */
  stopped(runner: ConversationRunner, release: Release): void {
    if (this.#runner === runner) this.#runner = null
    this.#noteUse()
    if (release.type !== 'failed') return
    for (const follower of this.#followers) follower.fail(release.error)
  }

  /** Notes that an event handler failed. The runner fails, or else the next one. */
  failHandler(error: unknown): void {
    if (this.#runner) this.#runner.fail(error)
    else this.#handlerError = { error }
  }

  /** Calls `wake` after a time, or earlier if the process that owns the lease was killed. */
  retryAfter(ms: number, wake: () => void, owner = ''): void {
    const due = performance.now() + Math.max(0, ms) + TAKE_OVER_DELAY * (1 + Math.random())
    const check = (): void => (hasOwnerEnded(owner) ? wake() : wait())
    const wait = (): void => {
      const left = due - performance.now()
      this.#retry = setTimeout(
        left > OWNER_CHECK_MS ? check : wake,
        // A busy process may be late.
        Math.max(0, Math.min(left, OWNER_CHECK_MS)),
      )
    }
    wait()
  }

  /** Closes the session, and stops the runner. Followers fail with the error. */
  close(error: () => ByrefError): void {
    if (this.#retry) clearTimeout(this.#retry)
    this.#runner?.stop()
    this.#endError = error
    this.#session?.close()
    for (const follower of this.#followers) follower.fail(error())
    busy.delete(this)
  }

  #noteUse(): void {
    const isOver = this.#endError !== null
    const isInUse =
      !this.isIdle || this.hasFollowers || (this.#session && openRun(this.#session.state) !== null)
    if (isInUse && !isOver) busy.add(this)
    else busy.delete(this)
  }
}

function closedError(): ByrefError {
  return new ByrefError('interrupted', 'The agent was closed. Call resume to continue the run.')
}
