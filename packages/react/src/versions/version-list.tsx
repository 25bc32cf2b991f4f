import type { AssetInfo } from 'byref/client'
import { Redo2, Undo2 } from 'lucide-react'
import { useMemo, useState } from 'react'
import { useConversation } from '../app/conversation-context.tsx'
import { PlaceLink, useChangeView, ViewLink } from '../app/navigation.tsx'
import { useMay } from '../app/role.ts'
import { suggestReference } from '../composer/suggestions.ts'
import { JumpText } from '../inspector/jump-text.tsx'
import { Section } from '../inspector/section.tsx'
import { Button, buttonClass } from '../ui/button.tsx'
import { cn } from '../ui/cn.ts'
import { formatBytes, formatCount, formatFullTime } from '../ui/format.ts'
import { More } from '../ui/more.tsx'
import { useRestore } from './use-restore.ts'
import { useVersions, versionAfter, versionBefore } from './use-versions.ts'
import { type VersionPlace, versionPlaces } from './version-places.ts'

/** Number of versions that are listed at once. */
const PAGE = 20

const MAKERS: Record<NonNullable<AssetInfo['by']>, string> = {
  user: 'a person',
  tool: 'a tool',
  agent: 'the model',
  system: 'the app',
}

/** Properties of {@link VersionList}. */
export interface VersionListProps {
  /** The id of the shown version. */
  id: string
  /** Whether it is on the page of the asset, outside of conversations. */
  isPage?: boolean
}

/**
 * Lists the versions of an asset, newest first, with who made each. It compares them, and goes back and forth between
 * them. Renders nothing if there is only one.
 */
export function VersionList({ id, isPage = false }: VersionListProps) {
  const { data: versions } = useVersions(id)
  const [most, setMost] = useState(PAGE)
  const mayWrite = useMay('member')
  const messages = useConversation((state) => state.messages)
  const places = useMemo(
    () => versionPlaces(messages, new Set(versions?.map(({ assetId }) => assetId))),
    [messages, versions],
  )
  const [label, setLabel] = useState<string | null>(null)
  if (!versions || versions.length < 2) return null
  const place =
    places.find((one) => one.label === label) ??
    places.find(({ assetId }) => assetId === id) ??
    places.at(-1) ??
    null
  const newestFirst = versions.map((version, index) => ({ version, number: index + 1 })).reverse()
  return (
    <Section title="Versions">
      {mayWrite && !isPage && (
        <Steps versions={versions} id={id} place={place} places={places} onPlace={setLabel} />
      )}
      <ol
        aria-label="Versions"
        className="@container overflow-hidden rounded-lg border border-line text-xs"
      >
        {newestFirst.slice(0, most).map(({ version, number }) => (
          <Version
            key={version.assetId}
            version={version}
            number={number}
            versions={versions}
            place={place}
            isPage={isPage}
            isShown={version.assetId === id}
            usedAt={places.filter(({ assetId }) => assetId === version.assetId)}
          />
        ))}
      </ol>
      <More
        what="versions"
        count={Math.max(0, versions.length - most)}
        onReach={() => setMost(most + PAGE)}
      />
    </Section>
  )
}

interface StepsProps {
  versions: readonly AssetInfo[]
  id: string
  place: VersionPlace | null
  places: readonly VersionPlace[]
  onPlace: (label: string) => void
}

/** Renders undo and redo. They start from the version that the place names, otherwise from the shown one. */
function Steps({ versions, id, place, places, onPlace }: StepsProps) {
  const use = useUse(versions, place)
  const current = place?.assetId ?? id
  const before = versionBefore(versions, current)
  const after = versionAfter(versions, current)
  const target = (to: AssetInfo | undefined) =>
    to ? `to version ${formatCount(versions.indexOf(to) + 1)}` : undefined
  return (
    <div className="flex flex-wrap items-center gap-2">
      <Button
        look="outline"
        disabled={!before}
        title={target(before)}
        onClick={() => before && use(before)}
      >
        <Undo2 aria-hidden className="rtl:-scale-x-100" /> Undo
      </Button>
      <Button
        look="outline"
        disabled={!after}
        title={target(after)}
        onClick={() => after && use(after)}
      >
        <Redo2 aria-hidden className="rtl:-scale-x-100" /> Redo
      </Button>
      {places.length > 1 && (
        <label className="flex min-w-0 flex-1 basis-40 items-center gap-2 text-xs text-ink-3">
          in
          <select
            value={place?.label}
            onChange={(event) => onPlace(event.target.value)}
            className="h-7 min-w-0 flex-1 rounded-md border border-line-strong bg-surface px-2 text-sm text-ink pointer-coarse:h-9"
          >
            {places.map((one) => (
              <option key={one.label}>{one.label}</option>
            ))}
          </select>
        </label>
      )}
    </div>
  )
}

/** Returns a function that uses a version and shows it. */
function useUse(versions: readonly AssetInfo[], place: VersionPlace | null) {
  const restore = useRestore()
  const change = useChangeView()
  return async (to: AssetInfo): Promise<void> => {
    if (await restore({ versions, to, place })) change({ asset: to.assetId })
  }
}

interface VersionProps {
  version: AssetInfo
  number: number
  versions: readonly AssetInfo[]
  place: VersionPlace | null
  isShown: boolean
  /** The saved values that name it. */
  usedAt: readonly VersionPlace[]
  isPage: boolean
}

function Version(props: VersionProps) {
  const { version, number, versions, place, isShown, usedAt, isPage } = props
  const { assetId, createdAt, size, table } = version
  const use = useUse(versions, place)
  const mayWrite = useMay('member')
  const name = `version ${formatCount(number)}`
  const hasOther = versionBefore(versions, assetId) !== undefined
  const isUsed = place?.assetId === assetId
  return (
    <li
      aria-current={isShown || undefined}
      className={cn(
        'flex flex-wrap items-center gap-x-3 gap-y-1 px-3 py-2 not-last:border-b not-last:border-line',
        isShown && 'bg-sunken',
      )}
    >
      <div className="min-w-0 flex-1 basis-full @md:basis-44">
        <p className="flex flex-wrap items-baseline gap-x-2">
          {isPage ? (
            <PlaceLink to={{ type: 'asset', id: assetId }} className={LINK}>
              Version {formatCount(number)}
            </PlaceLink>
          ) : (
            <ViewLink view={{ asset: assetId }} className={LINK}>
              Version {formatCount(number)}
            </ViewLink>
          )}
          {isShown && <span className="text-ink-2">shown</span>}
          {usedAt.map(({ label }) => (
            <bdi key={label} className="font-mono text-variable [overflow-wrap:anywhere]">
              {label}
            </bdi>
          ))}
        </p>
        <p className="text-ink-2 [overflow-wrap:anywhere]">
          <time dateTime={createdAt}>{formatFullTime(createdAt)}</time>
          {' · '}
          {table ? `${formatCount(table.rows)} rows` : formatBytes(size)}
          <Maker version={version} name={name} />
        </p>
      </div>
      <div className="flex flex-wrap gap-1">
        {hasOther && (
          <PlaceLink
            to={{ type: 'view', view: { compare: assetId, against: undefined } }}
            aria-label={`Compare ${name} with the one before`}
            className={buttonClass('outline')}
          >
            Compare
          </PlaceLink>
        )}
        {mayWrite && !isPage && !isUsed && (
          <Button look="outline" onClick={() => void use(version)}>
            Use this version <span className="sr-only">({formatCount(number)})</span>
          </Button>
        )}
        {mayWrite && isPage && (
          <PlaceLink
            to={{ type: 'path', path: '/' }}
            onClick={() => {
              const attachment = { assetRef: version.ref, fileName: version.name ?? undefined }
              suggestReference(attachment, [])
            }}
            className={buttonClass('outline')}
          >
            Use this version{' '}
            <span className="sr-only">({formatCount(number)}) in a new conversation</span>
          </PlaceLink>
        )}
      </div>
    </li>
  )
}

const LINK = 'rounded font-medium text-ring hover:underline'

/** Shows who made a version, with a link to the call, if the open conversation made it. */
function Maker({ version, name }: { version: AssetInfo; name: string }) {
  const { assetId, by, tool, toolCallId } = version
  const isMadeHere = useConversation(({ assets }) => assets.some((one) => one.assetId === assetId))
  if (!by) return null
  return (
    <>
      {' · by '}
      {tool ? <span className="font-mono">{tool}</span> : MAKERS[by]}
      {isMadeHere && toolCallId && (
        <>
          {' · '}
          <JumpText to={`call-${toolCallId}`} className="underline">
            Go to call
            <span className="sr-only"> of {name}</span>
          </JumpText>
        </>
      )}
    </>
  )
}
