import type { Board } from '../core/board/board.ts'
import type {
  CompactionState,
  ConversationState,
  DeletionState,
} from '../core/events/conversation-state.ts'
import { isData } from '../core/messages/data-block.ts'
import type { Message } from '../core/messages/message.ts'
import { placeCompact } from './place-compact.ts'
import {
  createPlacer,
  type DescribedAssets,
  IN_PLACE,
  type KnownAsset,
  type Placer,
} from './placer.ts'
import type { PlacedTopic } from './told-once.ts'

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

/** Options of {@link createTranscript}. */
export interface TranscriptOptions {
  /** Default: `cache`. */
  merge?: MergeMode
  /** Whether large data is shown in full, because the model has no tools to read more. Default: false. */
  wholeData?: boolean
  /** Returns whether a file must be left out without a note. Default: never. */
  hides?(ref: string): boolean
  /** Default: `named`. */
  describeAssets?: DescribedAssets
  /** Returns the text on a topic; null if there is none. */
  guide(topic: PlacedTopic): string | null
}

/** A conversation as its prompt shows it, independent of the model's capabilities. */
export interface Transcript {
  /** The items so far. They only grow at their end, until a compaction or a deletion starts a new list. */
  readonly shown: Pick<
    Placer,
    'items' | 'system' | 'tokens' | 'base' | 'stale' | 'bodies' | 'fetched'
  >
  /** The number of messages that it shows. */
  readonly messages: number
  /** Adds what is new in the conversation. Call it when the model may be asked. */
  update(conversation: PromptConversation): void
}

/**
 * Creates the transcript of one conversation. It depends only on the log, not on how often it is updated. The cost
 * of an update depends only on what is new.
 */
export function createTranscript(options: TranscriptOptions): Transcript {
  const { merge = 'cache' } = options
  const known = new Map<string, KnownAsset>()
  let placer = createPlacer(known, options)
  let compaction: CompactionState | null = null
  let deletion: DeletionState | null = null
  let done = 0
  let takenAssets = 0

  function takeAssets({ assets, assetsAfter }: PromptConversation['state']): void {
    for (const [i, asset] of assets.slice(takenAssets).entries()) {
      const after = assetsAfter[takenAssets + i] ?? 0
      if (!known.has(asset.ref)) known.set(asset.ref, { asset, after })
    }
    takenAssets = assets.length
  }

  /** Starts a new list of items with the last compaction. */
  function restart({ state, board }: PromptConversation): void {
    const { messages } = state
    placer = createPlacer(known, options)
    compaction = state.compaction
    deletion = state.deletion ?? null
    const through = messages.findLastIndex(({ id }) => id === compaction?.through)
    done = through + 1
    if (!compaction || through === -1) return
    const covered = messages.slice(0, done)
    const given = {
      messages: covered,
      board: merge === 'engine' ? board : boardAfter(covered, board),
      merged: merge !== 'model',
      known: { get: (ref: string) => known.get(ref)?.asset },
    }
    placeCompact(placer, given, compaction)
    placer.base = placer.tokens
  }

  return {
    get shown() {
      return placer
    },
    get messages() {
      return done
    },
    update(conversation) {
      const { state, board } = conversation
      takeAssets(state)
      const isMoved = merge === 'engine' && state.messages.slice(done).some(isData)
      const isShorter = (state.deletion ?? null) !== deletion
      if (state.compaction !== compaction || isShorter || isMoved) restart(conversation)
      if (state.messages.length === done) return
      const how = merge === 'engine' ? ({ ...IN_PLACE, merge, board } as const) : IN_PLACE
      placer.place(state.messages.slice(done), done, how)
      done = state.messages.length
    },
  }
}

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
