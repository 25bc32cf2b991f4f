import type { Assets } from '../../assets/assets-contract.ts'
import type { Tool } from '../../boundary/tool.ts'
import type { TrustMode } from '../../core/events/events.ts'
import { join, joinAll, type Label, TRUSTED, UNKNOWN, writeLabel } from '../../core/labels/label.ts'
import { type LabelTree, wholeOf } from '../../core/labels/label-tree.ts'
import { visibleOf } from '../../core/labels/labels.ts'
import type { AssetRefParts } from '../../core/refs/asset-ref.ts'
import { referencesIn } from '../../core/refs/references-in.ts'
import { type GivenLabels, violationsOf, violationTexts } from '../../policies/trust/check-flow.ts'

/** A call that is checked before it runs. */
export interface CheckedInput {
  /** The arguments as the model wrote them. */
  written: unknown
  /** The arguments with the values of their references. */
  args: unknown
  labels: GivenLabels
}

/**
 * The labels in a session without a log: the label of everything that the model has seen, and of each asset that the
 * session knows.
 */
export class SessionLabels {
  readonly #mode: TrustMode
  readonly #assets = new Map<string, Label>()
  #context = TRUSTED

  constructor(mode: TrustMode) {
    this.#mode = mode
  }

  /** The label of everything that the model has seen so far. */
  get context(): Label {
    return this.#context
  }

  /** Records that the model gets a value. In quarantine, it sees only the trusted parts. */
  show(labels: LabelTree): void {
    this.showWhole(this.#mode === 'quarantine' ? visibleOf(labels) : wholeOf(labels))
  }

  /** Records that the model sees a whole value, even in quarantine. */
  showWhole(label: Label): void {
    this.#context = join(this.#context, label)
  }

  /** Records the label of an asset's content. */
  noteAsset(id: string, label: Label): void {
    this.#assets.set(id, join(this.#assets.get(id) ?? TRUSTED, label))
  }

  /** Returns assets that note the label of what is saved through them. */
  scoped(assets: Assets, label: Label): Assets {
    return assets.scoped({
      label: () => writeLabel(label),
      onEvent: (event) => {
        if (event.type === 'ASSET_CREATED') this.noteAsset(event.payload.assetId, label)
      },
    })
  }

  /** Returns the label of an asset. An asset that the session does not know is untrusted and private. */
  asset({ id }: Pick<AssetRefParts, 'id'>): Label {
    return this.#assets.get(id) ?? UNKNOWN
  }
}

/** Returns the label of everything that a call receives: what its model had seen, and what it reads. */
export function labelOfCall({ context, reads }: GivenLabels): Label {
  return joinAll([context, ...reads.map(({ labels }) => wholeOf(labels))])
}

/**
 * Returns why a tool does not accept a call; null if it accepts the call. The text contains no values, and only
 * references that the model wrote.
 */
export function violationWords(tool: Tool, { written, args, labels }: CheckedInput): string | null {
  const violations = violationsOf(tool, Object(args), labels)
  const known = new Set(referencesIn(written).map(({ text }) => text))
  return violations.length > 0 ? violationTexts(violations, known).join('; ') : null
}

/** Returns the message of a denied call. */
export function denialText({ id }: Pick<Tool, 'id'>, words: string): string {
  return `The call to "${id}" was denied: ${words}`
}
