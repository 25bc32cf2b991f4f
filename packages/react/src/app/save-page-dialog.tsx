import { FileDown } from 'lucide-react'
import { useEffect, useRef, useState } from 'react'
import { LIMITS } from '../save-page/page.ts'
import { type Saved, savePage } from '../save-page/save-page.ts'
import { ActionError } from '../ui/action-error.tsx'
import { Button } from '../ui/button.tsx'
import { formatBytes, formatCount } from '../ui/format.ts'
import { Modal } from '../ui/modal.tsx'
import { Notice } from '../ui/notice.tsx'
import { saveFile } from '../ui/save-file.ts'
import { useMay } from './role.ts'
import { useServer } from './server.ts'

/** Properties of {@link SavePageDialog}. */
export interface SavePageDialogProps {
  conversation: string
  onClose: () => void
}

/** Saves a conversation as one HTML file, which opens without a server and without a network. */
export function SavePageDialog({ conversation, onClose }: SavePageDialogProps) {
  const server = useServer()
  const mayHaveDebug = useMay('owner')
  const [debug, setDebug] = useState(false)
  const [progress, setProgress] = useState<{ assets: number; of: number } | null>(null)
  const [saved, setSaved] = useState<Saved | null>(null)
  const [error, setError] = useState<unknown>(null)
  const work = useRef(new AbortController())
  useEffect(() => () => work.current.abort(), [])

  async function save(): Promise<void> {
    work.current = new AbortController()
    const { signal } = work.current
    setError(null)
    setProgress({ assets: 0, of: 0 })
    try {
      const made = await savePage(server, conversation, { debug, signal, onProgress: setProgress })
      saveFile(made.html, made.name)
      setSaved(made)
    } catch (error) {
      if (!signal.aborted) setError(error)
    }
    setProgress(null)
  }

  return (
    <Modal
      title="Save as HTML"
      onClose={onClose}
      focusFirst
      className="inset-x-3 top-[16vh] mx-auto max-h-[80vh] max-w-md animate-appear space-y-3 overflow-y-auto rounded-xl p-4 text-sm"
    >
      <p aria-hidden className="text-base font-semibold">
        Save as HTML
      </p>
      <p className="text-ink-2">
        One HTML file with the whole conversation: it opens in any browser, without a server and
        without a network. Files of up to {formatBytes(LIMITS.each)} each and{' '}
        {formatBytes(LIMITS.all)} in all are in it, and the first {formatCount(LIMITS.rows)} rows of
        tables.
      </p>
      {mayHaveDebug && (
        <label className="flex items-start gap-2">
          <input
            type="checkbox"
            checked={debug}
            onChange={(event) => setDebug(event.target.checked)}
            className="mt-0.5"
          />
          <span>
            With debug data
            <span className="block text-xs text-ink-3">
              The requests and responses of the model provider. Share them only with people who may
              see them.
            </span>
          </span>
        </label>
      )}
      <ActionError what="Nothing was saved." error={error} />
      {saved && <Outcome saved={saved} />}
      <div className="flex flex-wrap items-center justify-end gap-2">
        {progress && (
          <p role="status" className="flex-1 text-xs text-ink-3 tabular-nums">
            {progress.of === 0
              ? 'Reading the conversation…'
              : `Asset ${formatCount(progress.assets + 1)} of ${formatCount(progress.of)}…`}
          </p>
        )}
        <Button look="outline" onClick={onClose}>
          {saved ? 'Close' : 'Cancel'}
        </Button>
        <Button look="solid" disabled={progress !== null} onClick={() => void save()}>
          <FileDown aria-hidden /> Save
        </Button>
      </div>
    </Modal>
  )
}

function Outcome({ saved: { html, assets, leftOut, withheld } }: { saved: Saved }) {
  return (
    <Notice tone={leftOut.length + withheld > 0 ? 'warn' : 'info'} live>
      Saved: {formatBytes(html.size)} with {formatCount(assets)} {assets === 1 ? 'asset' : 'assets'}
      .{leftOut.length > 0 && ` Too large and left out: ${leftOut.join(', ')}.`}
      {withheld > 0 && ` Left out, because you may not read them: ${formatCount(withheld)}.`}
    </Notice>
  )
}
