import { useState } from 'react'
import { Button } from '../ui/button.tsx'
import { ScrollArea } from '../ui/scroll-area.tsx'

/** Nothing is loaded and no script runs, wherever the workbench is shown. */
const POLICY =
  '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; style-src \'unsafe-inline\'; img-src data:">'

/** Renders HTML from a message: a page in a sandbox without scripts, origin or network, or its source. */
export function HtmlContent({ html }: { html: string }) {
  const [source, setSource] = useState(false)
  return (
    <div className="overflow-hidden rounded-lg border border-line">
      <div className="flex items-center gap-2 border-b border-line bg-sunken py-0.5 pe-1 ps-3 text-xs text-ink-3">
        <span className="flex-1">HTML, without scripts</span>
        <Button
          aria-pressed={source}
          onClick={() => setSource(!source)}
          className="h-6 text-xs font-normal"
        >
          Source
        </Button>
      </div>
      {source ? (
        <ScrollArea className="max-h-80">
          <pre
            dir="auto"
            className="p-3 font-mono text-xs whitespace-pre-wrap [overflow-wrap:anywhere]"
          >
            {html}
          </pre>
        </ScrollArea>
      ) : (
        <iframe
          sandbox=""
          srcDoc={POLICY + html}
          title="HTML of the message"
          className="block h-80 w-full resize-y bg-white"
        />
      )}
    </div>
  )
}
