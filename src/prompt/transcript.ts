import type { Board } from '../core/board/board.ts'
import type {
  CompactionState,
  ConversationState,
  DeletionState,
} from '../core/events/conversation-state.ts'
import { isData } from '../core/messages/data-block.ts'
import type { Message } from '../core/messages/message.ts'
import { placeCompact } from './place-compact.ts'
import { IN_PLACE, type KnownAsset, Placer, type PlacerOptions } from './placer.ts'

/**
 * Where data messages are shown. `cache`: each in its place, and merged into one block for each name by a
 * compaction, so that the beginning of the prompt stays the same. `engine`: always merged. `model`: each in its
 * place.
 */
export type MergeMode = 'cache' | 'engine' | 'model'

/** The parts of a conversation that its prompt shows. */
export interface PromptConversation {
  state: Pick<ConversationState, 'messages' | 'assets' | 'assetsAfter' | 'compaction'> &
    Partial<Pick<ConversationState, 'runs' | 'deletion'>>
  /** The board of the data messages. */
  board: Pick<Board, 'entries'>
}

/** Options of {@link Transcript}. */
export interface TranscriptOptions extends PlacerOptions {
  /** Default: `cache`. */
  merge?: MergeMode
}

/**
 * A conversation as its prompt shows it, independent of the model's capabilities. It depends only on the log, not on
 * how often it is updated. An update reads only the new messages.
 */
export class Transcript {
  readonly #options: TranscriptOptions
  readonly #known = new Map<string, KnownAsset>()
  #placer: Placer
  #compaction: CompactionState | null = null
  #deletion: DeletionState | null = null
  /** The numbers of messages and assets that were added. */
  #messageCount = 0
  #assetCount = 0

  constructor(options: TranscriptOptions) {
    this.#options = options
    this.#placer = new Placer(this.#known, options)
  }

  /** The items so far, with their sizes. The list only grows at its end, until a compaction or deletion restarts it. */
  get shown(): Shown {
    return this.#placer
  }

  /** The number of messages that it shows. */
  get messages(): number {
    return this.#messageCount
  }

  /** Adds the new messages of the conversation. Call it when the model may be asked. */
  update(conversation: PromptConversation): void {
    const { state, board } = conversation
    const { merge = 'cache' } = this.#options
    this.#addAssets(state)
    const hasNewData = merge === 'engine' && state.messages.slice(this.#messageCount).some(isData)
    const isDeleted = (state.deletion ?? null) !== this.#deletion
    if (state.compaction !== this.#compaction || isDeleted || hasNewData)
      this.#restart(conversation)
    if (state.messages.length === this.#messageCount) return
    const placing = merge === 'engine' ? ({ ...IN_PLACE, merge, board } as const) : IN_PLACE
    this.#placer.place(state.messages.slice(this.#messageCount), this.#messageCount, placing)
    this.#messageCount = state.messages.length
  }

  #addAssets({ assets, assetsAfter }: PromptConversation['state']): void {
    for (const [i, asset] of assets.slice(this.#assetCount).entries()) {
      const after = assetsAfter[this.#assetCount + i] ?? 0
      if (!this.#known.has(asset.ref)) this.#known.set(asset.ref, { asset, after })
    }
    this.#assetCount = assets.length
  }

  /** Starts a new list of items, with the part that the last compaction covers. */
  #restart({ state, board }: PromptConversation): void {
    const { messages, compaction } = state
    const { merge } = this.#options
    this.#placer = new Placer(this.#known, this.#options)
    this.#compaction = compaction
    this.#deletion = state.deletion ?? null
    const through = messages.findLastIndex(({ id }) => id === compaction?.through)
    this.#messageCount = through + 1
    if (!compaction || through === -1) return
    const covered = messages.slice(0, this.#messageCount)
    const part = {
      messages: covered,
      board: merge === 'engine' ? board : boardAfter(covered, board),
      isMerged: merge !== 'model',
      known: { get: (ref: string) => this.#known.get(ref)?.asset },
    }
    placeCompact(this.#placer, part, compaction)
    this.#placer.base = this.#placer.tokens
  }
}

type Shown = Pick<Placer, 'items' | 'system' | 'tokens' | 'base' | 'stale' | 'bodies' | 'fetched'>

/** Returns the board as it was after these messages. */
function boardAfter(
  messages: readonly Message[],
  board: PromptConversation['board'],
): Pick<Board, 'entries'> {
  return {
    entries() {
      for (const message of messages.toReversed()) {
        if (!isData(message)) continue
        try {
          return board.entries({ at: message.id })
        } catch {
          // Data that breaks its schema is in the conversation, but not on the board.
        }
      }
      return []
    },
  }
}
