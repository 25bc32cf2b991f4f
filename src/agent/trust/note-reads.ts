import type { Assets } from '../../assets/assets-contract.ts'
import type { ConversationEvent } from '../../content/events.ts'
import { join, type Label, type LabelInput, readLabel, TRUSTED } from '../../content/label.ts'
import type { Labels } from '../../content/labels.ts'
import { referencesIn } from '../../content/references-in.ts'
import type { ToolContext } from '../tools/tool.ts'
import { notedAssets } from './noted-assets.ts'

/** What an execution reads by itself, beside what its call was given. */
export interface NotedReads {
  /** Of everything that was read so far, and of what the tool says of its result. */
  label(): Label
  /** Of what its call was given. */
  readonly given: Label
  mark(label: LabelInput): void
  assets(assets: Assets): Assets
  /** The same `read` as in a tool's context. */
  read(read: ToolContext['read']): ToolContext['read']
}

/**
 * Notes what an execution reads.
 *
 * @param made The events of what it made itself.
 */
export function noteReads(
  labels: Labels,
  made: readonly ConversationEvent[],
  { instance, given }: { instance: string | undefined; given: Label },
): NotedReads {
  let all = TRUSTED
  const note = (label: Label): void => {
    all = join(all, label)
  }
  const isOwn = (id: string): boolean =>
    made.some((event) => event.type === 'ASSET_CREATED' && event.payload.assetId === id)
  return {
    label: () => all,
    given,
    mark: (label) => note(readLabel(label)),
    assets: (assets) => notedAssets(assets, { labels, isOwn, note }),
    read: (read) => async (variable) => {
      const noteNow = (): void => {
        for (const found of referencesIn(variable)) note(labels.reference(found, { instance }))
      }
      noteNow()
      const value = await read(variable)
      noteNow()
      return value
    },
  }
}
