import { type AssetCreated, parseAssetRef } from 'byref/client'
import { Link2Off, Lock } from 'lucide-react'
import { HoverCard } from 'radix-ui'
import { type ReactNode, use, useState } from 'react'
import { useConversation, useConversationId } from '../app/conversation-context.tsx'
import { PlaceLink, ViewLink } from '../app/navigation.tsx'
import { useServer } from '../app/server.ts'
import { useQuery } from '../app/server-queries.ts'
import { cn } from '../ui/cn.ts'
import { useContainer } from '../ui/container.ts'
import { formatBytes } from '../ui/format.ts'
import { visibleText } from '../ui/visible-text.ts'
import { AssetCard } from './asset-card.tsx'
import { AssetIcon } from './asset-icon.tsx'
import { InsideLink } from './inside-link.ts'
import { tableShape } from './table-shape.ts'

/** Properties of {@link AssetChip}. */
export interface AssetChipProps {
  reference: string
  /** Shows the reference itself, and loads the asset only on hover. */
  literal?: boolean
  /** A name to show instead of its own. */
  name?: string
  /** Shown after the name, such as the size of a table. */
  detail?: ReactNode
  className?: string
}

/**
 * Renders a reference to an asset or a field of it. It shows the name, opens the asset in the inspector, and marks a
 * broken reference.
 */
export function AssetChip({ reference, literal = false, name, detail, className }: AssetChipProps) {
  const { assetQuery } = useServer()
  const parsed = parseAssetRef(reference)
  const container = useContainer()
  const [hovered, setHovered] = useState(false)
  const wanted = parsed !== null && (!literal || hovered)
  const known = useConversation(({ assets }) => byId(assets).get(parsed?.id ?? ''))
  const { data } = useQuery({ ...assetQuery(parsed?.id ?? ''), enabled: wanted })
  if (!parsed) return <BrokenChip reference={reference} reason="This is not a valid reference." />
  if (data === null && !literal) {
    return <BrokenChip reference={reference} reason="This file does not exist." />
  }
  const { id, fieldPath = [] } = parsed
  const facts =
    detail ??
    (fieldPath.length === 0 ? sizeOf(data?.asset ?? known, data?.meta ?? known?.meta) : null)
  const field = fieldPath.filter((key, index) => index > 0 || key !== 'content').join(' › ')
  const text = literal
    ? shorten(reference)
    : [visibleText(name ?? data?.asset.name ?? id), field].filter(Boolean).join(' › ')
  return (
    <HoverCard.Root openDelay={250} closeDelay={100} onOpenChange={setHovered}>
      <HoverCard.Trigger asChild>
        <AssetLink id={id} className={cn(chipClass('asset', literal), className)}>
          {!literal && (
            <AssetIcon asset={data?.asset} meta={data?.meta} className="size-3.5 shrink-0" />
          )}
          <span dir={literal ? 'ltr' : 'auto'} className="truncate">
            {text}
          </span>
          {facts && <bdi className="shrink-0 font-normal">{facts}</bdi>}
        </AssetLink>
      </HoverCard.Trigger>
      <HoverCard.Portal container={container}>
        <HoverCard.Content
          sideOffset={6}
          collisionPadding={8}
          className="z-50 w-72 animate-appear rounded-lg bg-raised p-3 shadow-float"
        >
          <AssetCard reference={reference} details={data} />
        </HoverCard.Content>
      </HoverCard.Portal>
    </HoverCard.Root>
  )
}

/** Properties of {@link BrokenChip}. */
export interface BrokenChipProps {
  reference: string
  reason: string
  /** Whether it may be resolved for other people, and so is no mistake. */
  isPrivate?: boolean
}

/** Replaces a reference that cannot be resolved. */
export function BrokenChip({ reference, reason, isPrivate = false }: BrokenChipProps) {
  const Icon = isPrivate ? Lock : Link2Off
  return (
    <span
      title={reason}
      className={cn(
        'inline-flex max-w-full min-w-0 items-center gap-1 rounded-md border border-dashed px-1.5 align-middle text-xs',
        isPrivate ? 'border-line-strong text-ink-2' : 'border-bad-line bg-bad-soft text-bad',
      )}
    >
      <Icon className={cn('shrink-0', isPrivate ? 'size-3' : 'size-3.5')} aria-hidden />
      <span dir="ltr" className="truncate font-mono">
        {reference}
      </span>
      <span className="sr-only">{reason}</span>
    </span>
  )
}

/** Returns the style of a reference. References to assets and to variables look different everywhere. */
export function chipClass(kind: 'asset' | 'variable', literal: boolean): string {
  return cn(
    'inline-flex max-w-full min-w-0 items-center gap-1 rounded-md border align-middle hover:underline',
    literal ? 'px-1 font-mono text-xs leading-[1.125rem]' : 'px-1.5 text-xs leading-5 font-medium',
    kind === 'asset'
      ? 'border-asset-line bg-asset-soft text-asset'
      : 'border-variable-line bg-variable-soft text-variable',
  )
}

/** Renders a link to an asset: in the inspector, or outside of conversations to its page. */
export function AssetLink({
  id,
  ...rest
}: {
  id: string
  className: string
  title?: string
  children: ReactNode
}) {
  const inConversation = useConversationId() !== null
  if (use(InsideLink)) return <span {...rest} />
  if (inConversation) return <ViewLink view={{ tab: 'assets', asset: id }} {...rest} />
  return <PlaceLink to={{ type: 'asset', id: id }} {...rest} />
}

/** Returns the rows and columns of a table, or the size in bytes. */
function sizeOf(
  asset: { size?: number } | undefined,
  meta: Record<string, unknown> = {},
): string | null {
  const size = asset?.size
  return tableShape(meta) ?? (size === undefined ? null : formatBytes(size))
}

const indexes = new WeakMap<readonly AssetCreated[], ReadonlyMap<string, AssetCreated>>()

/** Returns the assets of the conversation by id. */
function byId(assets: readonly AssetCreated[]): ReadonlyMap<string, AssetCreated> {
  const index = indexes.get(assets) ?? new Map(assets.map((asset) => [asset.assetId, asset]))
  indexes.set(assets, index)
  return index
}

function shorten(reference: string): string {
  const parsed = parseAssetRef(reference)
  if (!parsed || parsed.id.length <= 14) return reference
  return reference.replace(parsed.id, `${parsed.id.slice(0, 5)}…${parsed.id.slice(-5)}`)
}
