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
 * Where data messages are shown. `cache`, which keeps a prompt's beginning as it was: each in its place, and
 * merged into one block an identity by a compaction. `engine`: always merged. `model`: each in its place.
 */
export type MergeMode = 'cache' | 'engine' | 'model'

/** The part of a conversation that its prompt shows. */
export interface PromptConversation {
  state: Pick<ConversationState, 'messages' | 'assets' | 'assetsAfter' | 'compaction'> &
    Partial<Pick<ConversationState, 'runs' | 'deletion'>>
  /** The data among the messages. */
  board: Pick<Board, 'entries'>
}

/** Options of {@link createTranscript}. */
export interface TranscriptOptions {
  /** Default `cache`. */
  merge?: MergeMode
  /** Whether data are shown whole, however large, where there is nothing to read more with. Default false. */
  wholeData?: boolean
  /** Whether the bytes behind a reference are not to be sent, and nothing said of them. Default: none. */
  hides?(ref: string): boolean
  /** Default `named`. */
  describeAssets?: DescribedAssets
  /** The text on a topic; null for none. */
  guide(topic: PlacedTopic): string | null
}

/** A conversation as it is shown, before it is known what its model takes. */
export interface Transcript {
  /** What it shows now: only ever added to at its end, until a compaction or a deletion begins another. */
  readonly shown: Pick<
    Placer,
    'items' | 'system' | 'tokens' | 'base' | 'stale' | 'bodies' | 'fetched'
  >
  /** How many messages it shows. */
  readonly messages: number
  /** Takes what is new of a conversation that is at a point where its model may be asked. */
  update(conversation: PromptConversation): void
}

/**
 * The transcript of one conversation: a pure function of its log, in whatever pieces it is taken in. Each update costs
 * what is new.
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

  /** Begins anew, with what the last compaction covers. */
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

/** The board as it was after these messages. */
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
          // One that broke its schema is in the conversation and not on the board.
        }
      }
      return []
    },
  }
}
