import type { Assets } from '../../../assets/assets-contract.ts'
import type { TrustMode } from '../../../core/events/events.ts'
import type { Label } from '../../../core/labels/label.ts'
import { SessionLabels } from '../../session-labels.ts'
import type { RelayOptions } from '../rpc/relay.ts'
import { type SaveBody, saveBody } from '../save-body.ts'

/** One client with its server. */
export interface ProxySession {
  assets: Assets
  /** Null where trust is off. */
  labels: SessionLabels | null
  /** Saves bodies with this label. */
  save(label: Label): SaveBody
}

/** What passes between a client and its server, and how. */
export type ProxyView = Omit<RelayOptions, 'whyEnded'>

/** Opens a session in which nothing was said. */
export function openProxySession(
  assets: Assets,
  trust: TrustMode,
  expiresAt?: () => Date,
): ProxySession {
  const labels = trust === 'off' ? null : new SessionLabels(trust)
  const save = (label: Label): SaveBody => {
    return async (body, name) => {
      const info = await saveBody(body, assets, { name, expiresAt: expiresAt?.() })
      if (info) labels?.noteAsset(info.assetId, label)
      return info
    }
  }
  return { assets, labels, save }
}
